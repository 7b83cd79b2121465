package httpserver

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"legible.sh/mutex/api"
	"legible.sh/mutex/internal/policy"
	"legible.sh/mutex/internal/web"
	"legible.sh/mutex/registry"
)

// ErrShutdown is the cause with which the server's base context is cancelled when it stops: requests that wait answer
// SHUTDOWN then, and streams get their last event.
var ErrShutdown = errors.New("the server is stopping")

// Limits are the ranges that parameters are held to.
type Limits struct {
	MaxTTL      time.Duration
	MaxWait     time.Duration
	MaxCapacity int
	MaxWaiters  int
	MaxBody     int64 // bytes
}

// Options are what a server is made of. Registry, Policy and Log must be set.
type Options struct {
	Registry  *registry.Registry
	Policy    *policy.Policy
	History   History      // nil: the history calls answer UNSUPPORTED
	Overviews Overviews    // nil: the dashboard shows no past
	Metrics   http.Handler // nil: /-/metrics answers UNSUPPORTED
	Meter     Meter        // nil: requests are not counted
	MCP       http.Handler // nil: /-/mcp answers UNSUPPORTED
	Pages     *web.Pages
	Ready     func() error // nil: ready as soon as it serves
	Log       *slog.Logger
	Version   string

	Limits        Limits
	BodyTimeout   time.Duration // for a client to send a request's body
	AnswerTimeout time.Duration // for a client to read an answer that is no stream; 0: no limit
	Heartbeat     time.Duration // between comment lines on a quiet stream
	BaseURL       *url.URL      // nil: links are built from the request's Host
	AllowedHosts  []string      // beyond loopback names and the base URL's; only looked at with CheckHost
	CheckHost     bool          // refuse other hosts: for a server that listens on loopback
	CORSOrigins   []string      // origins that browsers may call from; "*" for any
}

// Meter counts requests. It is called once for each, when it has been answered.
type Meter interface {
	Request(pattern string, status int, took time.Duration)
	Watchers(change int)
}

// Server answers requests. It is safe for concurrent use.
type Server struct {
	options Options
	hosts   map[string]bool
	// The host of the last request that had a good one.
	lastHost atomic.Pointer[string]
	origins  *http.CrossOriginProtection
	cors     map[string]bool
	mux      *http.ServeMux
	readme   []byte          // with links to where its files are served
	closed   map[string]bool // patterns that only refuse; see closeOwned

	sessions sessions // of the pages
	pasts    pasts    // likewise
}

var _ api.ServerInterface = (*Server)(nil)

// New builds a server.
func New(o Options) (*Server, error) {
	s := &Server{options: o, mux: http.NewServeMux()}
	s.allowHosts()
	if err := s.allowOrigins(); err != nil {
		return nil, err
	}
	api.Mount(s.mux, s, s.refuse)
	// A pattern without a method would collide with /{topic}/{lease}.
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		s.mux.HandleFunc(method+" /-/mcp", s.mcp)
	}
	s.mountPages()
	s.mountDocs()
	s.closeOwned()
	s.mux.HandleFunc("/", s.noRoute)
	return s, nil
}

// stopping tells whether a context ended because the server stops.
func stopping(ctx context.Context) bool {
	return errors.Is(context.Cause(ctx), ErrShutdown)
}
