package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/oklog/run"

	"legible.sh/mutex/internal/config"
	"legible.sh/mutex/internal/httpserver"
)

// Serve binds and runs a server until the context ends.
func Serve(ctx context.Context, c config.Config, log *slog.Logger, version string) error {
	s, err := New(c, log, version)
	if err != nil {
		return err
	}
	log.Info("serving", "url", s.URL(), "version", version)
	return s.Run(ctx)
}

// Run serves until the context ends or a part fails, and then ends everything in stages. Its error says which stage
// failed; the end of the context is none.
func (s *Server) Run(ctx context.Context) error {
	s.registry.Open()
	failed := s.parts(ctx).Run()
	if errors.Is(failed, errStop) {
		failed = nil
	}
	return errors.Join(failed, s.end())
}

// errStop is how the member that waits for the context ends the group.
var errStop = errors.New("asked to stop")

// parts are the members of the group. An interrupt only signals; what must be waited for is in [Server.end].
func (s *Server) parts(ctx context.Context) *run.Group {
	var g run.Group
	ctx, cancel := context.WithCancel(ctx)
	stop := func(error) { cancel() }
	// The caller's wish to stop, a signal mostly.
	g.Add(func() error { <-ctx.Done(); return errStop }, stop)
	// The requests. Shutdown makes Serve return; whoever is parked is told by the base context.
	g.Add(func() error { return s.serve() }, func(error) { s.cancel(httpserver.ErrShutdown); s.stopServing() })
	// The reaper of idle topics.
	g.Add(func() error { return s.registry.Run(ctx) }, stop)
	return &g
}

func (s *Server) serve() error {
	if err := s.http.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("http: %w", err)
	}
	return nil
}

// stopServing closes the listener without waiting for requests.
func (s *Server) stopServing() {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_ = s.http.Shutdown(ended) // the wait for requests, with its error, is in end
}

// end ends what runs, in the order in which one needs the other.
func (s *Server) end() error {
	ctx, cancel := context.WithTimeout(context.Background(), s.config.ShutdownTimeout.D())
	defer cancel()
	var all []error
	stage := func(name string, err error) {
		if err != nil {
			all = append(all, fmt.Errorf("%s: %w", name, err))
		}
	}
	if err := s.http.Shutdown(ctx); err != nil {
		stage("http", errors.Join(err, s.http.Close()))
	}
	stage("registry", s.registry.Stop(ctx))
	s.log.Info("stopped")
	return errors.Join(all...)
}
