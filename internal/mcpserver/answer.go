package mcpserver

import (
	"encoding/json"
	"net/http"
	"strings"

	"legible.sh/mutex/api"
)

// answer makes the library's errors in plain text into answers like all others of the server: with code and hint.
type answer struct {
	http.ResponseWriter
	before func() // called once, before the first byte; nil for nothing
	status int    // of an error in plain text; 0 for whatever else
}

var codes = map[int]api.ErrorCode{
	http.StatusForbidden:             api.ErrorCodeForbidden,
	http.StatusNotFound:              api.ErrorCodeNotFound,
	http.StatusMethodNotAllowed:      api.ErrorCodeMethodNotAllowed,
	http.StatusRequestEntityTooLarge: api.ErrorCodeTooLarge,
	http.StatusTooManyRequests:       api.ErrorCodeTopicLimit,
	http.StatusInternalServerError:   api.ErrorCodeInternal,
}

// WriteHeader is [http.ResponseWriter.WriteHeader].
func (w *answer) WriteHeader(status int) {
	w.begin()
	if status >= 400 && strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") {
		w.status = status
		w.Header().Set("Content-Type", "application/json")
		w.Header().Del("Content-Length")
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *answer) begin() {
	if f := w.before; f != nil {
		w.before = nil
		f()
	}
}

// Write takes the whole text of an error at once, as [http.Error] writes it.
func (w *answer) Write(b []byte) (int, error) {
	w.begin()
	if w.status == 0 {
		return w.ResponseWriter.Write(b)
	}
	e := api.APIError{
		Error: strings.TrimSpace(string(b)), Code: codes[w.status],
		Hint: "This path speaks MCP over streamable HTTP: use an MCP client, and have it begin a new session. With plain HTTP, read /llms.txt.",
		Next: &api.NextRequest{Method: http.MethodGet, Path: "/llms.txt"},
	}
	if e.Code == "" {
		e.Code = api.ErrorCodeBadParam
	}
	text, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		return 0, err
	}
	if _, err := w.ResponseWriter.Write(append(text, '\n')); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Unwrap lets [http.ResponseController] reach flushing.
func (w *answer) Unwrap() http.ResponseWriter { return w.ResponseWriter }
