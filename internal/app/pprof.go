package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"time"
)

// profiler serves Go's profiles on an address of its own, never on the server's: they tell too much.
type profiler struct {
	listener net.Listener
	server   *http.Server
}

func openProfiler(addr string) (*profiler, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("pprof: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return &profiler{l, &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}}, nil
}

func (p *profiler) run() error {
	if err := p.server.Serve(p.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("pprof: %w", err)
	}
	return nil
}

// stop ends it at once: a profile cut short is no loss.
func (p *profiler) stop(error) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_ = p.server.Shutdown(ended)
	_ = p.server.Close()
}
