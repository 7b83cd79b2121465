package app

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"legible.sh/mutex/internal/config"
	"legible.sh/mutex/internal/httpserver"
	"legible.sh/mutex/internal/journal"
	"legible.sh/mutex/internal/mcpserver"
	"legible.sh/mutex/internal/metrics"
	"legible.sh/mutex/internal/policy"
	"legible.sh/mutex/internal/tracing"
	"legible.sh/mutex/internal/web"
	"legible.sh/mutex/registry"
)

// Options are what a server is made from. Config and Log must be set.
type Options struct {
	Config  config.Config
	Log     *slog.Logger
	Version string
	Dirs    policy.Dirs      // where the admin token of a local server is kept
	Reload  <-chan os.Signal // each value makes the server read its policy file again
	Tracing bool             // send spans to where the OTEL_* variables say
}

// Server is a server that is bound and ready to run.
type Server struct {
	options   Options
	log       *slog.Logger
	metrics   *metrics.Metrics
	policy    *policy.Policy
	adminFile *policy.AdminFile // nil: the admin token was given, or there is none
	journal   *journal.File     // nil: in memory
	history   eventLog          // nil: switched off
	registry  *registry.Registry
	accepted  *httpserver.Listener
	listener  net.Listener    // accepted, with TLS on top where that is asked for
	profiler  *profiler       // nil: off
	tracer    *tracing.Tracer // nil: off
	agents    *mcpserver.HTTP
	http      *http.Server
	base      context.Context // of every request
	cancel    context.CancelCauseFunc
}

// New binds what the settings name: it listens, opens files and takes locks, but serves nothing yet. [Server.Run] or
// [Server.Close] must follow.
func New(o Options) (*Server, error) {
	s := &Server{options: o, log: o.Log, metrics: metrics.New()}
	s.base, s.cancel = context.WithCancelCause(context.Background())
	if err := s.bind(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Server) bind() error {
	c := &s.options.Config
	address, err := c.Address()
	if err != nil {
		return err
	}
	if err := s.listen(address); err != nil {
		return err
	}
	if err := s.openStorage(); err != nil {
		return err
	}
	if err := s.openAccess(address); err != nil {
		return err
	}
	if c.Pprof != "" {
		if s.profiler, err = openProfiler(c.Pprof); err != nil {
			return err
		}
	}
	s.figures()
	handler, err := s.handler(address)
	if err != nil {
		return err
	}
	if s.options.Tracing {
		if s.tracer, err = tracing.Start(s.base, s.options.Version); err != nil {
			return err
		}
		handler = s.tracer.Wrap(handler)
	}
	s.http = &http.Server{
		Handler:           handler,
		BaseContext:       func(net.Listener) context.Context { return s.base },
		ConnContext:       httpserver.ConnContext,
		ReadHeaderTimeout: c.ReadHeaderTimeout.D(),
		IdleTimeout:       c.IdleTimeout.D(),
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
		// No WriteTimeout: it would end long polls and streams. Each answer has its time from its first byte on, and
		// streams set a deadline for each write.
	}
	return nil
}

// answerTimeout is how long a client may take to read an answer.
const answerTimeout = 30 * time.Second

func (s *Server) handler(address config.Address) (http.Handler, error) {
	c := &s.options.Config
	var past httpserver.History
	var overviews httpserver.Overviews
	if s.history != nil {
		past, overviews = pastEvents{s.history}, pastEvents{s.history}
	}
	s.agents = mcpserver.NewHTTP(mcpserver.HTTPOptions{Version: s.options.Version})
	handler, err := httpserver.New(httpserver.Options{
		Registry:  s.registry,
		History:   past,
		Overviews: overviews,
		Metrics:   s.metrics.Handler(),
		Meter:     s.metrics,
		MCP:       s.agents,
		Ready:     s.ready,
		Policy:    s.policy,
		Pages:     web.New(),
		Log:       s.log,
		Version:   s.options.Version,
		Limits: httpserver.Limits{
			MaxTTL: c.MaxTTL.D(), MaxWait: c.MaxWait.D(), MaxCapacity: c.MaxCapacity, MaxWaiters: c.MaxWaiters,
			MaxBody: c.MaxBody,
		},
		BodyTimeout:   c.ReadHeaderTimeout.D(),
		AnswerTimeout: answerTimeout,
		Heartbeat:     c.Heartbeat.D(),
		BaseURL:       c.BaseURL,
		AllowedHosts:  c.AllowedHosts,
		CheckHost:     address.Network == "tcp" && address.Local(),
		CORSOrigins:   c.CORSOrigins,
	})
	if err == nil {
		s.agents.Serve(s.base, handler)
	}
	return handler, err
}
