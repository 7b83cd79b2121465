package mcpserver

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},` +
	`"clientInfo":{"name":"agent","version":"1"}}}`

func without(t *testing.T, body string) *http.Request {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/-/mcp", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	return r
}

func alone(t *testing.T, most int) *HTTP {
	t.Helper()
	h := NewHTTP(HTTPOptions{Version: "test", Most: most})
	h.Serve(context.Background(), http.NotFoundHandler())
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// TestCallsWithoutASessionLeaveNothing: the library ends what it has begun for them, so it counts for nothing either.
func TestCallsWithoutASessionLeaveNothing(t *testing.T) {
	h := alone(t, 0)
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"held","arguments":{}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":7}}`,
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, without(t, body))
		if n, m := len(h.server.sessions), len(h.live); n != 0 || m != 0 {
			t.Errorf("%s\nanswered %d %s\nleaves %d sessions, %d counted", body, w.Code, w.Body, n, m)
		}
	}
}

// deaf takes an answer's header and nothing more, as for a client that has hung up.
type deaf struct{ http.ResponseWriter }

func (deaf) WriteHeader(int) {}

func (deaf) Write([]byte) (int, error) { return 0, errors.New("nobody is there") }

func (deaf) Flush() {}

// TestWhoHangsUpAsItsSessionBegins: a session that began all the same is one of those that end by themselves.
func TestWhoHangsUpAsItsSessionBegins(t *testing.T) {
	h := alone(t, 0)
	for n := range 2000 {
		ctx, hangUp := context.WithCancel(t.Context())
		over := make(chan struct{})
		go func() {
			defer close(over)
			h.ServeHTTP(deaf{httptest.NewRecorder()}, without(t, initialize).WithContext(ctx))
		}()
		time.Sleep(time.Duration(n%200) * time.Microsecond) // somewhere on its way
		hangUp()
		<-over
	}
	began := 0
	for range h.server.mcp.Sessions() {
		began++
	}
	if n := len(h.live); n != began {
		t.Errorf("%d sessions began, %d are counted and will end", began, n)
	}
}

// late is a body that comes when all are there.
type late struct {
	io.Reader
	arrive func() // at the first read, and at the end of its request
	all    <-chan struct{}
}

func (l *late) Read(b []byte) (int, error) {
	l.arrive()
	<-l.all
	return l.Reader.Read(b)
}

// TestSessionsThatBeginAtOnceAreCountedToo: none of them has its session when the last one asks.
func TestSessionsThatBeginAtOnceAreCountedToo(t *testing.T) {
	const most, clients = 4, 10
	h := alone(t, most)
	all := make(chan struct{})
	var there atomic.Int32
	var ended sync.WaitGroup
	for range clients {
		ended.Go(func() {
			body := &late{strings.NewReader(initialize), sync.OnceFunc(func() {
				if there.Add(1) == clients {
					close(all)
				}
			}), all}
			r := without(t, "")
			r.Body = io.NopCloser(body)
			h.ServeHTTP(httptest.NewRecorder(), r)
			body.arrive()
		})
	}
	ended.Wait()
	began := 0
	for range h.server.mcp.Sessions() {
		began++
	}
	if began != most {
		t.Errorf("%d sessions, want %d", began, most)
	}
}
