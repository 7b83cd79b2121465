package httpserver

import (
	"context"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"legible.sh/mutex/api"
)

// ServeHTTP is the front door: what is checked here, no operation needs to think of.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rec := recorders.Get().(*recorder)
	rec.ResponseWriter, rec.patience = w, s.options.AnswerTimeout
	start := time.Now()
	defer func() {
		v := recover()
		cut := s.ended(rec, r, v)
		s.account(rec, r, time.Since(start))
		*rec = recorder{}
		recorders.Put(rec)
		if cut {
			panic(http.ErrAbortHandler) // net/http ends the connection
		}
	}()
	if id := r.Header["X-Request-Id"]; len(id) > 0 && id[0] != "" && len(id[0]) <= 128 {
		rec.Header()["X-Request-Id"] = id[:1]
	}
	s.timeBody(rec, r)
	if s.admit(rec, r) {
		s.mux.ServeHTTP(rec, r)
	}
}

// admit refuses what must not reach an operation.
func (s *Server) admit(w http.ResponseWriter, r *http.Request) bool {
	switch {
	case !s.knownHost(r):
		s.refuseHost(w, r)
	case !cleanPath(r.URL.Path):
		s.fail(w, r, errPath)
	case !s.crossOrigin(w, r):
		// answered
	case r.Method == http.MethodOptions:
		s.describe(w, r)
	case strings.HasPrefix(r.URL.Path, "/-/") && !s.routes(r):
		s.noRoute(w, r)
	default:
		return true
	}
	return false
}

// cleanPath tells whether the mux would route a path as it was sent. It would redirect any other, and a client that
// follows would lock another name than it asked for.
func cleanPath(p string) bool {
	return strings.HasPrefix(p, "/") && !strings.Contains(p, "//") && !strings.Contains(p, "/./") &&
		!strings.Contains(p, "/../") && !strings.HasSuffix(p, "/.") && !strings.HasSuffix(p, "/..")
}

// noRoute answers every path and method that no operation has.
func (s *Server) noRoute(w http.ResponseWriter, r *http.Request) {
	allowed := s.methods(r)
	if len(allowed) == 0 {
		s.fail(w, r, errNoRoute)
		return
	}
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	s.fail(w, r, &methodError{method: r.Method, allowed: allowed, meant: meant(r)})
}

// meant guesses what a method that a path lacks was sent for, from the two slips that are usual: a release without its
// lease, and a topic with a slash in it.
func meant(r *http.Request) string {
	depth := strings.Count(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case r.URL.Path == "/" || strings.HasPrefix(r.URL.Path, "/-/"):
		return ""
	case r.Method == http.MethodDelete && depth == 0:
		return " To release, send DELETE /{topic}/{lease}."
	case r.Method == http.MethodPost && depth == 1:
		return " To renew, send POST /{topic}/{lease}/renew. A topic has no slash: acquire with POST /deploy:staging, not /deploy/staging."
	}
	return ""
}

// methods lists what can be done with a path, empty for one that is no route.
func (s *Server) methods(r *http.Request) []string {
	var allowed []string
	for _, m := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodDelete} {
		if s.routes(&http.Request{Method: m, URL: r.URL, Host: r.Host}) {
			allowed = append(allowed, m)
		}
	}
	if len(allowed) > 0 {
		allowed = append(allowed, http.MethodOptions)
	}
	return allowed
}

// routes tells whether an operation takes the request. Below /-/ there are no topics, though the patterns of topics
// match there.
func (s *Server) routes(r *http.Request) bool {
	_, pattern := s.mux.Handler(r)
	return pattern != "/" && !s.closed[pattern] && !(strings.HasPrefix(r.URL.Path, "/-/") && strings.Contains(pattern, "{topic}"))
}

// describe answers OPTIONS.
func (s *Server) describe(w http.ResponseWriter, r *http.Request) {
	allowed := s.methods(r)
	if len(allowed) == 0 {
		s.fail(w, r, errNoRoute)
		return
	}
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	w.WriteHeader(http.StatusNoContent)
}

// abort ends a request whose client is gone, without an answer. A handler that just returned would be answered 200 by
// net/http, and a client that had only closed its own half of the connection would read that it has a lease.
func abort() { panic(http.ErrAbortHandler) }

// statusGone counts requests whose client went away before its answer. It is never sent; the number is nginx's.
const statusGone = 499

// ended looks how a handler ended: v is what it panicked with, if it did. It tells whether the connection must end too,
// since the client is gone, or would take for whole what it has of an answer.
func (s *Server) ended(rec *recorder, r *http.Request, v any) (cut bool) {
	switch v {
	case nil:
		return false
	case http.ErrAbortHandler:
		rec.status = statusGone
		return true
	}
	s.options.Log.Error("panic in a handler", "op", r.Pattern, "panic", v, "stack", string(debug.Stack()))
	if rec.status != 0 {
		rec.status = http.StatusInternalServerError
		return true
	}
	s.write(rec, http.StatusInternalServerError, apiError(errInternal, r))
	return false
}

// account counts and, at debug level, logs a request. The path is left out of it: a lease may stand in there.
func (s *Server) account(rec *recorder, r *http.Request, took time.Duration) {
	status := rec.status
	if status == 0 {
		status = http.StatusOK
	}
	if s.options.Meter != nil {
		s.options.Meter.Request(r.Pattern, status, took)
	}
	if s.options.Log.Enabled(context.Background(), slog.LevelDebug) {
		s.options.Log.Debug("request", "op", r.Pattern, "topic", r.PathValue("topic"), "status", status, "took", took,
			"remote", r.RemoteAddr)
	}
}

// recorder remembers the status of an answer. http.ResponseController sees through it.
type recorder struct {
	http.ResponseWriter
	status   int
	patience time.Duration // for the client to read the answer; 0: no limit
}

var recorders = sync.Pool{New: func() any { return new(recorder) }}

func (r *recorder) WriteHeader(status int) {
	r.begin(status)
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(b []byte) (int, error) {
	r.begin(http.StatusOK)
	return r.ResponseWriter.Write(b)
}

// begin is where an answer begins, and with it the time that the client has to read it: one that reads nothing would
// keep its connection, and a goroutine, for ever. Who streams sets deadlines of its own from there on; net/http takes
// them away before the next request.
func (r *recorder) begin(status int) {
	if r.status != 0 {
		return
	}
	r.status = status
	if r.patience > 0 {
		_ = http.NewResponseController(r.ResponseWriter).SetWriteDeadline(time.Now().Add(r.patience)) // unsupported only in tests without a connection
	}
}

// Unwrap lets http.ResponseController reach deadlines and flushing.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// refuse answers a request that the generated binder could not take apart, naming what else is wrong with it as well.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, e *api.BindError) {
	s.fail(w, r, &paramError{problems: append(s.bindProblems(e), s.rangeProblems(e.Params)...)})
}
