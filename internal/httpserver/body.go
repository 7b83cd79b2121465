package httpserver

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// bodyPatience is how long a client may take to send a body of a few kilobytes.
const bodyPatience = 10 * time.Second

// readBody reads the few bytes that a body may have.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request) (string, error) {
	if r.ContentLength == 0 {
		return "", nil
	}
	if r.ContentLength > s.options.Limits.MaxBody {
		return "", &sizeError{s.options.Limits.MaxBody}
	}
	conn := http.NewResponseController(w)
	_ = conn.SetReadDeadline(time.Now().Add(bodyPatience)) // unsupported only in tests without a connection
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.options.Limits.MaxBody))
	_ = conn.SetReadDeadline(time.Time{})
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return "", &sizeError{s.options.Limits.MaxBody}
	}
	if err != nil {
		return "", errBody
	}
	return string(b), nil
}
