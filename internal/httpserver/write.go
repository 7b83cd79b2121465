package httpserver

import (
	"encoding/json"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Header values that never change are shared: net/http only reads them.
var (
	contentJSON = []string{"application/json"}
	noStore     = []string{"no-store"}
	replayed    = []string{"true"}
)

// buffers hold answers while they are put together.
var buffers = sync.Pool{New: func() any {
	b := make([]byte, 0, 1024)
	return &b
}}

// send writes a JSON answer that was appended by hand.
func send(w http.ResponseWriter, status int, body []byte) error {
	h := w.Header()
	h["Content-Type"] = contentJSON
	h["Cache-Control"] = noStore
	w.WriteHeader(status)
	_, err := w.Write(body)
	return err
}

// write writes any value as JSON in the house's form.
func (s *Server) write(w http.ResponseWriter, status int, v any) {
	h := w.Header()
	h["Content-Type"] = contentJSON
	h["Cache-Control"] = noStore
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		s.options.Log.Debug("answer not written", "error", err)
	}
}

// timing says in a header how long a command was queued and stored, in milliseconds.
func timing(w http.ResponseWriter, queued, stored time.Duration) {
	b := make([]byte, 0, 40)
	b = append(b, "queue;dur="...)
	b = appendMillis(b, queued)
	b = append(b, ", store;dur="...)
	b = appendMillis(b, stored)
	w.Header()["Server-Timing"] = []string{string(b)}
}

// appendMillis appends milliseconds with three decimals, or just 0.
func appendMillis(b []byte, d time.Duration) []byte {
	us := d.Microseconds()
	if us <= 0 {
		return append(b, '0')
	}
	b = strconv.AppendInt(b, us/1000, 10)
	return append(b, '.', '0'+byte(us/100%10), '0'+byte(us/10%10), '0'+byte(us%10))
}
