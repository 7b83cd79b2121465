package httpserver_test

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"legible.sh/mutex/internal/httpserver"
	"legible.sh/mutex/internal/policy"
	"legible.sh/mutex/registry"
)

// TestSlowBodiesAreGivenUp asks everything, with the first half of a body. Whether the operation wants it or not, the
// answer comes and the connection ends.
func TestSlowBodiesAreGivenUp(t *testing.T) {
	s := start(t, func(o *httpserver.Options, _ *registry.Options, _ *policy.Options) {
		o.BodyTimeout = 20 * time.Millisecond
		o.MCP = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.ReadAll(r.Body) })
	})
	const lease = "0123456789abcdef0123456789abcdef"
	for request, want := range map[string]string{
		"POST /a": "400", "POST /a?wait=60": "400", "POST /a?ttl=x": "400", "GET /a": "200", "GET /": "200",
		"DELETE /a/" + lease: "404", "POST /a/" + lease + "/renew": "404", "POST /-/prune": "401", "OPTIONS /a": "204",
		"PUT /a": "405", "POST /nope/nope/nope": "404", "POST /-/mcp": "200",
	} {
		for _, body := range []string{"Content-Length: 10\r\n\r\nhalf", "Content-Length: 5000\r\n\r\nhalf",
			"Transfer-Encoding: chunked\r\n\r\n5\r\nhalf", "Expect: 100-continue\r\nContent-Length: 10\r\n\r\n"} {
			c := s.dial(t, request+" HTTP/1.1\r\nHost: h\r\n"+body)
			if err := c.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
				t.Fatal(err)
			}
			b, err := io.ReadAll(c)
			status := strings.TrimPrefix(string(b), "HTTP/1.1 100 Continue\r\n\r\n")
			tooLarge := want == "400" && strings.HasPrefix(status, "HTTP/1.1 413")
			if err != nil || !strings.HasPrefix(status, "HTTP/1.1 "+want) && !tooLarge {
				t.Errorf("%s, %s: %q %v", request, body, b, err)
			}
		}
	}
}

// TestABodysTimeEndsWithIt streams for longer than a body may take, to clients that sent one.
func TestABodysTimeEndsWithIt(t *testing.T) {
	const patience = 20 * time.Millisecond
	s := start(t, func(o *httpserver.Options, _ *registry.Options, _ *policy.Options) {
		o.BodyTimeout, o.Heartbeat = patience, 5*patience
		o.MCP = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.ReadAll(r.Body)
			_ = http.NewResponseController(w).Flush()
			select {
			case <-r.Context().Done():
				_, _ = io.WriteString(w, "cut off")
			case <-time.After(5 * patience):
				_, _ = io.WriteString(w, ": \n")
			}
		})
	})
	held, _ := s.acquire(t, "/a")
	waiter := s.dial(t, "POST /a?wait=60 HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 5\r\n\r\nalice")
	eventually(t, "it waits", func() bool { return s.waiting(t, "a") == 1 })
	for _, request := range []string{"GET /a/sse", "GET /-/mcp", "POST /-/mcp"} {
		c := s.dial(t, request+" HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nalice")
		if err := c.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(c)
		for lines.Scan() && lines.Text() != ": " {
		}
		if lines.Text() != ": " {
			t.Errorf("%s: the stream ended with %q %v", request, lines.Text(), lines.Err())
		}
	}
	s.call(t, "DELETE", "/a/"+held)
	if b, err := io.ReadAll(waiter); err != nil || !strings.HasPrefix(string(b), "HTTP/1.1 200") {
		t.Errorf("a long wait: %q %v", b, err)
	}
}
