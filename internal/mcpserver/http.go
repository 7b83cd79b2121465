package mcpserver

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"legible.sh/mutex/api/client"
)

// HTTPOptions are what the MCP part of an HTTP server is made from.
type HTTPOptions struct {
	Version string
	Linger  time.Duration // a session without any open request or stream is over after this; 0: two minutes
	Most    int           // sessions at once; 0: 1,024
}

// HTTP serves MCP over streamable HTTP, as a part of a server whose locks it gives out. The part of that server's front
// door, refusing foreign hosts and origins, is done before.
type HTTP struct {
	server *Server
	inner  *mcp.StreamableHTTPHandler
	net    *memory
	locks  *http.Server // the wire, from memory
	served chan struct{}
	linger time.Duration
	most   int

	mu        sync.Mutex // guards what follows, for the goroutines of requests and timers
	live      map[string]*liveness
	beginning int // requests that may yet begin a session
}

// liveness is how many requests of a session are open, streams among them.
type liveness struct {
	open  int
	timer *time.Timer // runs while none is; ends the session
}

const (
	defaultLinger = 2 * time.Minute
	defaultMost   = 1024
	maxMessage    = 64 << 10 // bytes; the largest that a tool takes is a few hundred
	sessionHeader = "Mcp-Session-Id"
)

// NewHTTP makes the part. [HTTP.Serve] must be called before the first request comes, and [HTTP.Close] after the last.
func NewHTTP(o HTTPOptions) *HTTP {
	h := &HTTP{net: newMemory(), served: make(chan struct{}), linger: o.Linger, most: o.Most, live: make(map[string]*liveness)}
	if h.linger == 0 {
		h.linger = defaultLinger
	}
	if h.most == 0 {
		h.most = defaultMost
	}
	h.server = New(Options{Dial: h.dial, Version: o.Version})
	h.inner = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return h.server.mcp }, &mcp.StreamableHTTPOptions{
		MaxRequestBodyBytes:        maxMessage,
		DisableLocalhostProtection: true, // the server's own front door knows which names are its own
	})
	return h
}

// dial gives a client that speaks to the server itself, with the token of who called.
func (h *HTTP) dial(header http.Header) (*client.Client, error) {
	options := []client.Option{client.WithHTTPClient(h.net.client()), client.WithUserAgent("mutex-mcp")}
	if scheme, token, _ := strings.Cut(header.Get("Authorization"), " "); strings.EqualFold(scheme, "Bearer") {
		options = append(options, client.WithToken(strings.TrimSpace(token)))
	}
	return client.New("http://localhost", options...)
}

// Serve says which locks there are: those of handler, whose requests end with base. It starts a goroutine, which ends
// with Close.
func (h *HTTP) Serve(base context.Context, handler http.Handler) {
	h.locks = &http.Server{Handler: handler, BaseContext: func(net.Listener) context.Context { return base }}
	context.AfterFunc(base, h.server.interrupt)
	go func() { // answers what the tools ask
		defer close(h.served)
		_ = h.locks.Serve(h.net) // ends with Close, and cannot fail otherwise
	}()
}

// Close ends all sessions, whose leases end by their ttl, and returns when nothing of them is left.
func (h *HTTP) Close() error {
	h.server.interrupt()
	h.server.drop(everyone, false)
	h.mu.Lock()
	for _, l := range h.live {
		l.timer.Stop()
	}
	clear(h.live)
	h.mu.Unlock()
	var failed error
	for peer := range h.server.mcp.Sessions() {
		failed = errors.Join(failed, peer.Close())
	}
	h.server.drop(everyone, false)
	if h.locks == nil {
		return failed
	}
	failed = errors.Join(failed, h.locks.Close(), h.net.Close())
	<-h.served
	return failed
}

// ServeHTTP is one message of a session, or its stream, or its end.
func (h *HTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	out := &answer{ResponseWriter: w}
	id := r.Header.Get(sessionHeader)
	switch {
	case id == "" && !h.makeRoom():
		out.Header().Set("Retry-After", "10")
		http.Error(out, "too many MCP sessions: end one with DELETE, or repeat after Retry-After seconds", http.StatusTooManyRequests)
	case id == "":
		h.first(out, r)
	case r.Method == http.MethodDelete && h.known(id):
		h.delete(out, r, id)
	default:
		l := h.enter(id)
		defer h.leave(l)
		h.inner.ServeHTTP(out, r)
	}
}

// first is a message without a session, which may begin one.
func (h *HTTP) first(out *answer, r *http.Request) {
	var l *liveness
	id := ""
	out.before = func() {
		id = out.Header().Get(sessionHeader)
		l = h.begin(id)
	}
	defer func() {
		out.begin() // who hung up was told nothing, and may have begun a session all the same
		h.leave(l)
		if l != nil && !h.began(id) {
			h.forget(id)
		}
	}()
	h.inner.ServeHTTP(out, r)
}

// delete ends a session in order.
func (h *HTTP) delete(w http.ResponseWriter, r *http.Request, id string) {
	if err := h.server.may(named(id), r.Header.Get("Authorization")); err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	h.server.drop(named(id), true)
	h.inner.ServeHTTP(w, r)
	h.server.drop(named(id), true) // what a call took that came in between
	h.forget(id)
}

func named(id string) func(*mcp.ServerSession) bool {
	return func(peer *mcp.ServerSession) bool { return peer.ID() == id }
}

// makeRoom keeps room for a session, until begin is called; ok is false where there is none.
func (h *HTTP) makeRoom() (ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.live)+h.beginning >= h.most {
		return false
	}
	h.beginning++
	return true
}

func (h *HTTP) known(id string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.live[id] != nil
}

// began tells whether there is a session of that id: the library ends those that were not begun in order.
func (h *HTTP) began(id string) bool {
	for peer := range h.server.mcp.Sessions() {
		if peer.ID() == id {
			return true
		}
	}
	return false
}

// begin notes a session that an open request has just made, in the room of makeRoom; "" is none. It comes before the answer with its id: the next
// request may be there before this one has returned.
func (h *HTTP) begin(id string) *liveness {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.beginning--
	if id == "" {
		return nil
	}
	l := &liveness{open: 1, timer: time.AfterFunc(h.linger, func() { h.expire(id) })}
	l.timer.Stop()
	h.live[id] = l
	return l
}

// enter notes an open request of a session, nil for one that is not known.
func (h *HTTP) enter(id string) *liveness {
	h.mu.Lock()
	defer h.mu.Unlock()
	l := h.live[id]
	if l != nil {
		l.open++
		l.timer.Stop()
	}
	return l
}

// leave notes the end of what enter or begin gave.
func (h *HTTP) leave(l *liveness) {
	if l == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if l.open--; l.open == 0 {
		l.timer.Reset(h.linger)
	}
}

func (h *HTTP) forget(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if l := h.live[id]; l != nil {
		l.timer.Stop()
		delete(h.live, id)
	}
}

// expire ends a session that nothing was heard of.
func (h *HTTP) expire(id string) {
	h.mu.Lock()
	l := h.live[id]
	if l == nil || l.open > 0 {
		h.mu.Unlock()
		return
	}
	delete(h.live, id)
	h.mu.Unlock()
	h.server.drop(named(id), false)
	for peer := range h.server.mcp.Sessions() {
		if peer.ID() == id {
			_ = peer.Close()
		}
	}
	h.server.drop(named(id), false) // what a call took that came in between
}
