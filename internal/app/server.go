package app

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"

	"legible.sh/mutex/internal/config"
	"legible.sh/mutex/internal/history"
	"legible.sh/mutex/internal/httpserver"
	"legible.sh/mutex/internal/journal"
	"legible.sh/mutex/internal/metrics"
	"legible.sh/mutex/internal/policy"
	"legible.sh/mutex/internal/web"
	"legible.sh/mutex/registry"
)

// Server is a server that is bound and ready to run.
type Server struct {
	config   config.Config
	log      *slog.Logger
	metrics  *metrics.Metrics
	journal  *journal.File  // nil: in memory
	history  *history.Store // nil: switched off
	registry *registry.Registry
	listener net.Listener
	http     *http.Server
	base     context.Context // of every request
	cancel   context.CancelCauseFunc
}

// New binds what the settings name: it listens, opens files and takes locks, but serves nothing yet. [Server.Run] or
// [Server.Close] must follow.
func New(c config.Config, log *slog.Logger, version string) (*Server, error) {
	s := &Server{config: c, log: log, metrics: metrics.New()}
	s.base, s.cancel = context.WithCancelCause(context.Background())
	if err := s.bind(version); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Server) bind(version string) error {
	address, err := s.config.Address()
	if err != nil {
		return err
	}
	if err := s.listen(address); err != nil {
		return err
	}
	if err := s.openStorage(); err != nil {
		return err
	}
	s.figures()
	handler, err := s.handler(address, version)
	if err != nil {
		return err
	}
	s.http = &http.Server{
		Handler:           handler,
		BaseContext:       func(net.Listener) context.Context { return s.base },
		ConnContext:       httpserver.ConnContext,
		ReadHeaderTimeout: s.config.ReadHeaderTimeout.D(),
		IdleTimeout:       s.config.IdleTimeout.D(),
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
		// No WriteTimeout: it would end long polls and streams. Streams set a deadline for each write.
	}
	return nil
}

func (s *Server) handler(address config.Address, version string) (http.Handler, error) {
	c := &s.config
	limits := policy.Limits{
		MaxTTL: c.MaxTTL.D(), MaxWait: c.MaxWait.D(), MaxCapacity: c.MaxCapacity, MaxWaiters: c.MaxWaiters,
	}
	var past httpserver.History
	if s.history != nil {
		past = pastEvents{s.history}
	}
	return httpserver.New(httpserver.Options{
		Registry: s.registry,
		History:  past,
		Metrics:  s.metrics.Handler(),
		Meter:    s.metrics,
		Ready:    s.ready,
		Policy:   policy.New(policy.Options{Tokens: c.Tokens, AdminToken: c.AdminToken, Limits: limits}),
		Pages:    web.New(),
		Log:      s.log,
		Version:  version,
		Limits: httpserver.Limits{
			MaxTTL: c.MaxTTL.D(), MaxWait: c.MaxWait.D(), MaxCapacity: c.MaxCapacity, MaxWaiters: c.MaxWaiters,
			MaxBody: c.MaxBody,
		},
		BodyTimeout:  c.ReadHeaderTimeout.D(),
		Heartbeat:    c.Heartbeat.D(),
		BaseURL:      c.BaseURL,
		AllowedHosts: c.AllowedHosts,
		CheckHost:    address.Network == "tcp" && address.Local(),
		CORSOrigins:  c.CORSOrigins,
	})
}
