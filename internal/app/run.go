package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"time"

	"github.com/oklog/run"

	"legible.sh/mutex/internal/httpserver"
	"legible.sh/mutex/internal/lease"
)

// Serve binds and runs a server until the context ends.
func Serve(ctx context.Context, o Options) error {
	s, err := New(o)
	if err != nil {
		return err
	}
	o.Log.Info("serving", "url", s.URL(), "version", o.Version)
	s.remark()
	return s.Run(ctx)
}

// remark says what a person who set this up in a hurry may not have meant.
func (s *Server) remark() {
	c := &s.options.Config
	if c.DataDir == "" {
		s.log.Info("in memory only: a restart forgets every lease; --data-dir keeps them")
	}
	address, err := c.Address()
	if err == nil && !address.Local() && len(c.Tokens) == 0 && c.Policy == "" {
		s.log.Warn("open to the network without a token: whoever knows or guesses a topic's name can lock it; see --token-file and --policy")
	}
}

// Run serves until the context ends or a part fails, and then ends everything in stages. Its error says which stage
// failed; the end of the context is none.
func (s *Server) Run(ctx context.Context) error {
	// A small heap is collected all the time: at 60,000 requests a second the collector would run fifty times in each.
	// This much that is never touched, and so takes no memory, counts as live, and lets garbage gather for longer. It is in
	// pieces because one that lands where there was something before is cleared, and then does take memory.
	var ballast [16][]byte
	for i := range ballast {
		ballast[i] = make([]byte, 1<<20)
	}
	defer runtime.KeepAlive(ballast)
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
	// The journal's news: topics settle again when what it can keep has changed.
	if s.journal != nil {
		g.Add(func() error { return s.followJournal(ctx) }, stop)
	}
	// The wish to read the policy file again, a signal mostly.
	g.Add(func() error { return s.followReload(ctx) }, stop)
	// The profiler, where it is switched on.
	if s.profiler != nil {
		g.Add(s.profiler.run, s.profiler.stop)
	}
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

// followJournal wakes the topics when grants are suspended or possible again, and says so in the log.
func (s *Server) followJournal(ctx context.Context) error {
	for {
		select {
		case <-s.journal.Changed():
			if err := s.journal.Healthy(); err != nil {
				s.log.Error("journal not healthy", "error", err)
			} else {
				s.log.Info("journal healthy")
			}
			s.registry.Poke()
		case <-ctx.Done():
			return nil
		}
	}
}

// ready says whether leases can be granted.
func (s *Server) ready() error {
	if s.journal == nil {
		return nil
	}
	if err := s.journal.Healthy(); err != nil {
		return fmt.Errorf("%w: %w", lease.ErrStorage, err)
	}
	return nil
}

// end ends what runs, in the order in which one needs the other.
func (s *Server) end() error {
	failed := s.endRequests()
	// A budget of its own: whoever did not let go of a request must not cost the last events of the history.
	ctx, cancel := context.WithTimeout(context.Background(), storageTimeout)
	defer cancel()
	failed = errors.Join(failed, s.closeAgents())
	if err := s.registry.Stop(ctx); err != nil {
		failed = errors.Join(failed, fmt.Errorf("registry: %w", err))
	}
	failed = errors.Join(failed, s.close(ctx))
	s.log.Info("stopped")
	return failed
}

// storageTimeout is how long topics, history and journal may take to end; milliseconds, unless a disk hangs.
const storageTimeout = 5 * time.Second

// silence is how long a connection without a request is waited for at the end: one may be on its way.
const silence = 250 * time.Millisecond

// endRequests gives the requests their time to end, and cuts off those that do not: whoever waits or watches has been
// told by now, so what is left are clients that send half a request, or do not read their answer. That is no failure.
func (s *Server) endRequests() error {
	budget := s.options.Config.ShutdownTimeout.D()
	ctx, cancel := context.WithTimeout(context.Background(), budget)
	defer cancel()
	defer time.AfterFunc(silence, s.accepted.CloseSilent).Stop()
	err := s.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		s.log.Warn("requests that did not end were cut off", "after", budget)
		err = s.http.Close()
	}
	if err != nil {
		return fmt.Errorf("http: %w", err)
	}
	return nil
}

// Close gives back what New has bound, for a server that was never run.
func (s *Server) Close() error {
	var failed error
	if s.listener != nil {
		failed = s.listener.Close()
	}
	if s.profiler != nil {
		failed = errors.Join(failed, s.profiler.listener.Close())
	}
	failed = errors.Join(failed, s.closeAgents())
	ctx, cancel := context.WithTimeout(context.Background(), storageTimeout)
	defer cancel()
	if s.registry != nil { // topics that the journal knows wait to begin
		failed = errors.Join(failed, s.registry.Stop(ctx))
	}
	return errors.Join(failed, s.close(ctx))
}

// closeAgents ends the sessions over MCP, which ask the registry.
func (s *Server) closeAgents() error {
	if s.agents == nil {
		return nil
	}
	if err := s.agents.Close(); err != nil {
		return fmt.Errorf("mcp: %w", err)
	}
	return nil
}

// close ends what is on disk: the history, then the journal with its last sync. The journal has the directory's lock, so
// it is the last to go: the next server must not find our history open.
func (s *Server) close(ctx context.Context) error {
	var failed error
	if s.history != nil {
		if err := s.history.Close(ctx); err != nil {
			failed = errors.Join(failed, fmt.Errorf("history: %w", err))
		}
	}
	if s.journal != nil {
		if err := s.journal.CloseWithin(ctx); err != nil {
			failed = errors.Join(failed, fmt.Errorf("journal: %w", err))
		}
	}
	if s.tracer != nil {
		failed = errors.Join(failed, s.tracer.Stop(ctx))
	}
	return errors.Join(failed, s.closeAccess())
}
