package httpserver

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// timeBody gives a client its time to send a body, counted from the request's header. It is for all requests: what an
// operation leaves of a body, net/http reads before it answers. At the body's end net/http takes the deadline away.
func (s *Server) timeBody(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(s.options.BodyTimeout)) // unsupported only in tests without a connection
	}
}

// readBody reads the few bytes that a body may have.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request) (string, error) {
	if r.ContentLength == 0 {
		return "", nil
	}
	if r.ContentLength > s.options.Limits.MaxBody {
		return "", &sizeError{s.options.Limits.MaxBody}
	}
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.options.Limits.MaxBody))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return "", &sizeError{s.options.Limits.MaxBody}
	}
	if err != nil {
		return "", errBody
	}
	return string(b), nil
}
