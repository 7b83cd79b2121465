package remote_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"legible.sh/mutex/internal/locker"
	"legible.sh/mutex/internal/remote"
)

const lease = locker.Token("5f0c8a1e6b7d4c3f9a2b1d0e8c7f6a54")

// open gives a Remote whose server is h.
func open(t *testing.T, h http.HandlerFunc) *remote.Remote {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	r, err := remote.Open(s.URL, remote.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func refuse(status int, code string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error":"it is %s","code":%q,"hint":"do this","topic":"t","holders":["a","b"],"waiting":3,"retry_after":2.5}`, code, code)
	}
}

func TestErrorsAreOfTheCommandsKinds(t *testing.T) {
	for _, c := range []struct {
		status int
		code   string
		kind   error
	}{
		{404, "NOT_FOUND", locker.ErrGone},
		{400, "BAD_PARAM", locker.ErrUsage},
		{400, "BAD_TOPIC", locker.ErrUsage},
		{401, "UNAUTHORIZED", locker.ErrNotPermitted},
		{403, "FORBIDDEN", locker.ErrNotPermitted},
		{503, "SHUTDOWN", locker.ErrUnreachable},
		{503, "STORAGE", locker.ErrUnreachable},
	} {
		r := open(t, refuse(c.status, c.code))
		_, err := r.Renew(t.Context(), "t", lease, 0)
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), "it is "+c.code) {
			t.Errorf("%s: %v", c.code, err)
		}
		if strings.Contains(err.Error(), string(lease)) {
			t.Error("shows the lease:", err)
		}
	}
	bare := open(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) })
	if _, err := bare.Renew(t.Context(), "t", lease, 0); errors.Is(err, locker.ErrGone) || !errors.Is(err, locker.ErrUnreachable) {
		t.Error("a bare 404:", err)
	}
	if _, err := bare.Status(t.Context(), "a/b"); !errors.Is(err, locker.ErrUsage) {
		t.Error("a bad topic:", err)
	}
	if _, err := remote.Open("localhost:1", remote.Options{}); !errors.Is(err, locker.ErrUsage) {
		t.Error("a bad URL:", err)
	}
}

func TestBusySaysWhoIsInTheWay(t *testing.T) {
	r := open(t, refuse(409, "BUSY"))
	_, err := r.Acquire(t.Context(), "t", locker.Request{})
	var busy *locker.BusyError
	if !errors.As(err, &busy) || !errors.Is(err, locker.ErrBusy) || len(busy.Holders) != 2 || busy.Waiting != 3 || busy.RetryAfter != 2500*time.Millisecond {
		t.Errorf("%+v", err)
	}
}

const (
	head = "event: status\ndata: "
	free = `{"topic":"t","state":"free","capacity":1,"holders":[],"waiting":0,"waiters":[]}`
)

func held(fences ...int) string {
	var all []string
	for _, f := range fences {
		all = append(all, fmt.Sprintf(`{"name":"n","since":"2026-03-01T12:00:00.000Z","expires":"2026-03-01T12:00:00.000Z","fence":%d}`, f))
	}
	return `{"topic":"t","state":"held","capacity":2,"holders":[` + strings.Join(all, ",") + `],"waiting":0,"waiters":[]}`
}

func change(event string, fence int) string {
	return fmt.Sprintf("id: e-%d\nevent: %s\ndata: {\"topic\":\"t\",\"name\":\"n\",\"fence\":%d,\"capacity\":2,\"holders\":[],\"waiting\":0}\n\n", fence, event, fence)
}

// TestWait: it is over when the topic is free or a lease on it ends, seen or not.
func TestWait(t *testing.T) {
	for name, c := range map[string]struct {
		streams []string // one a connection; the last one stays open
		over    bool
	}{
		"free":                        {[]string{head + free + "\n\n"}, true},
		"held":                        {[]string{head + held(7) + "\n\n"}, false},
		"renewed, granted, queued":    {[]string{head + held(7) + "\n\n" + change("renew", 7) + change("grant", 8) + change("wait", 0)}, false},
		"released":                    {[]string{head + held(7) + "\n\n" + change("release", 7)}, true},
		"expired":                     {[]string{head + held(7) + "\n\n" + change("expire", 7)}, true},
		"forced":                      {[]string{head + held(7) + "\n\n" + change("force-release", 7)}, true},
		"ended unseen":                {[]string{head + held(7, 8) + "\n\n", head + held(8) + "\n\n"}, true},
		"taken over unseen":           {[]string{head + held(7) + "\n\n", head + held(8) + "\n\n"}, true},
		"granted, then ended unseen":  {[]string{head + held(7) + "\n\n" + change("grant", 8), head + held(7) + "\n\n"}, true},
		"the same after a connection": {[]string{head + held(7) + "\n\n", head + held(7) + "\n\n"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			var connections atomic.Int32
			watching := make(chan struct{}, 16)
			r := open(t, func(w http.ResponseWriter, r *http.Request) {
				if !strings.HasSuffix(r.URL.Path, "/sse") {
					_, _ = io.WriteString(w, free)
					return
				}
				n := int(connections.Add(1))
				_, _ = io.WriteString(w, c.streams[min(n, len(c.streams))-1])
				_ = http.NewResponseController(w).Flush()
				if n >= len(c.streams) {
					watching <- struct{}{}
					<-r.Context().Done()
				}
			})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan error, 1)
			go func() {
				_, err := r.Wait(ctx, "t")
				ended <- err
			}()
			if c.over {
				if err := <-ended; err != nil {
					t.Error(err)
				}
				return
			}
			<-watching
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Error("over:", err)
			}
		})
	}
}

// TestWaitRidesOutARestart: a server that stops, or has not started yet, says so to who comes back at once.
func TestWaitRidesOutARestart(t *testing.T) {
	var connections atomic.Int32
	r := open(t, func(w http.ResponseWriter, q *http.Request) {
		switch connections.Add(1) {
		case 1:
			_, _ = io.WriteString(w, head+held(7)+"\n\nevent: end\ndata: {\"code\":\"SHUTDOWN\"}\n\n")
		case 2:
			refuse(503, "SHUTDOWN")(w, q)
		default:
			_, _ = io.WriteString(w, head+free+"\n\n")
		}
	})
	if s, err := r.Wait(t.Context(), "t"); err != nil || s.State != locker.Free {
		t.Errorf("%+v %v", s, err)
	}
}

// TestAWaitThatIsRefusedSaysSo in the server's words, however often it was tried.
func TestAWaitThatIsRefusedSaysSo(t *testing.T) {
	for status, code := range map[int]string{403: "FORBIDDEN", 503: "STORAGE"} {
		_, err := open(t, refuse(status, code)).Wait(t.Context(), "t")
		if err == nil || !strings.Contains(err.Error(), "it is "+code) {
			t.Errorf("%s: %v", code, err)
		}
		if silent := (*locker.UnreachableError)(nil); errors.As(err, &silent) && !silent.Answered {
			t.Errorf("%s: taken for no answer: %v", code, err)
		}
	}
}

// TestWaitingForAServerThatSaysNothing: that no lease has ended is not known then.
func TestWaitingForAServerThatSaysNothing(t *testing.T) {
	r := open(t, func(_ http.ResponseWriter, q *http.Request) { <-q.Context().Done() })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := r.Wait(ctx, "t")
	if !errors.Is(err, locker.ErrUnreachable) {
		t.Errorf("%v", err)
	}
}
