package httpserver

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// readBody reads the few bytes that a body may have. A client that takes too long over them is cut off: after the
// answer, net/http would go on reading, so the deadline stays.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request) (string, error) {
	if r.ContentLength == 0 {
		return "", nil
	}
	if r.ContentLength > s.options.Limits.MaxBody {
		return "", &sizeError{s.options.Limits.MaxBody}
	}
	conn := http.NewResponseController(w)
	_ = conn.SetReadDeadline(time.Now().Add(s.options.BodyTimeout)) // unsupported only in tests without a connection
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.options.Limits.MaxBody))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return "", &sizeError{s.options.Limits.MaxBody}
	}
	if err != nil {
		return "", errBody
	}
	_ = conn.SetReadDeadline(time.Time{})
	return string(b), nil
}
