package httpserver

import (
	"net/http"

	"legible.sh/mutex/api"
)

// Healthy answers as long as the process can.
func (s *Server) Healthy(w http.ResponseWriter, _ *http.Request) {
	s.write(w, http.StatusOK, api.Health{Status: "ok", Version: s.options.Version})
}

// Ready says whether leases can be granted.
func (s *Server) Ready(w http.ResponseWriter, r *http.Request) {
	err := r.Context().Err()
	if stopping(r.Context()) {
		err = ErrShutdown
	} else if s.options.Ready != nil {
		err = s.options.Ready()
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.write(w, http.StatusOK, api.Health{Status: "ok", Version: s.options.Version})
}

// Metrics gives the figures for Prometheus.
func (s *Server) Metrics(w http.ResponseWriter, r *http.Request) {
	s.optional(w, r, s.options.Metrics)
}

func (s *Server) mcp(w http.ResponseWriter, r *http.Request) {
	if rec, ok := w.(*recorder); ok {
		rec.patience = 0 // it may be a stream
	}
	s.optional(w, r, s.options.MCP)
}

// optional serves a part that this server may run without.
func (s *Server) optional(w http.ResponseWriter, r *http.Request, part http.Handler) {
	if part == nil {
		s.fail(w, r, errUnsupported)
		return
	}
	part.ServeHTTP(w, r)
}
