package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"legible.sh/mutex/api/client"
)

// stream is an answer that sends text and then, if hold is set, stays open until it is given up.
func stream(r *http.Request, text string, hold bool) (*http.Response, error) {
	out, in := io.Pipe()
	go func() {
		if _, err := io.WriteString(in, text); err == nil && hold {
			<-r.Context().Done()
		}
		_ = in.CloseWithError(io.ErrUnexpectedEOF)
	}()
	return &http.Response{StatusCode: 200, Status: "200 OK", Header: http.Header{}, Body: out}, nil
}

const statusEvent = "id: e-1\nevent: status\ndata: {\"topic\":\"t\",\"state\":\"free\",\"capacity\":null,\"holders\":[],\"waiting\":0,\"waiters\":[]}\n\n"

func change(id, event string) string {
	return fmt.Sprintf(": hb\n\nid: %s\nevent: %s\ndata: {\"topic\":\"t\",\"name\":\"n\",\"fence\":7,\"capacity\":1,\"holders\":[],\"waiting\":0}\n\n", id, event)
}

func TestWatchGoesOnWhereAStreamBroke(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(func(r *http.Request, nth int) (*http.Response, error) {
			switch nth {
			case 0:
				return stream(r, statusEvent+change("e-2", "grant")+"id: e-3\nevent: rel", false)
			case 1:
				return nil, errRefused
			case 2:
				return stream(r, change("e-3", "release")+"event: end\ndata: {\"code\":\"SHUTDOWN\"}\n\n", true)
			}
			return stream(r, change("e-4", "expire"), true)
		})
		var got []string
		for e, err := range f.client(t).Watch(t.Context(), "t") {
			if err != nil {
				if !errors.Is(err, client.ErrUnreachable) {
					t.Fatal(err)
				}
				got = append(got, "trouble")
				continue
			}
			got = append(got, e.ID+" "+string(e.Type))
			if e.Type == client.EventExpire {
				break
			}
		}
		want := []string{"e-1 status", "e-2 grant", "trouble", "e-3 release", "e-4 expire"}
		if !slices.Equal(got, want) {
			t.Errorf("got %q", got)
		}
		last := []string{}
		for _, r := range f.requests() {
			last = append(last, r.Header.Get("Last-Event-ID"))
		}
		if want := []string{"", "e-2", "e-2", "e-3"}; !slices.Equal(last, want) {
			t.Errorf("resumed from %q", last)
		}
	})
}

// TestWatchRidesOutAServerThatRestarts: who stops or starts says so to who comes back at once.
func TestWatchRidesOutAServerThatRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(func(r *http.Request, nth int) (*http.Response, error) {
			switch nth {
			case 0:
				return stream(r, statusEvent+"event: end\ndata: {\"code\":\"SHUTDOWN\"}\n\n", true)
			case 1:
				return refuse(503, "SHUTDOWN")
			case 2:
				return stream(r, change("e-2", "grant"), false)
			}
			return refuse(403, "FORBIDDEN")
		})
		var trouble []error
		for _, err := range f.client(t).Watch(t.Context(), "t") {
			if err != nil {
				trouble = append(trouble, err)
			}
		}
		var no *client.Error
		if len(trouble) != 2 || !errors.Is(trouble[0], client.ErrUnreachable) || !errors.As(trouble[0], &no) || no.Status != 503 {
			t.Fatalf("%v", trouble)
		}
		if errors.Is(trouble[1], client.ErrUnreachable) || !errors.As(trouble[1], &no) || no.Status != 403 {
			t.Errorf("the last: %v", trouble[1])
		}
	})
}

func TestWatchLeavesAStreamThatFellSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(func(r *http.Request, nth int) (*http.Response, error) {
			if nth == 0 {
				return stream(r, statusEvent, true)
			}
			return stream(r, change("e-2", "grant"), true)
		})
		for e, err := range f.client(t).Watch(t.Context(), "t") {
			if err != nil {
				t.Fatal(err)
			}
			if e.Type == client.EventGrant {
				break
			}
		}
		if got := time.Since(f.start); got < time.Minute || got > 2*time.Minute {
			t.Errorf("after %v", got)
		}
	})
}

func TestAHeartbeatKeepsAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(func(r *http.Request, _ int) (*http.Response, error) {
			out, in := io.Pipe()
			context.AfterFunc(r.Context(), func() { _ = in.CloseWithError(r.Context().Err()) })
			go func() {
				_, err := io.WriteString(in, statusEvent)
				for i := 0; err == nil && i < 10; i++ {
					time.Sleep(25 * time.Second)
					_, err = io.WriteString(in, ": hb\n\n")
				}
				_, _ = io.WriteString(in, change("e-2", "grant"))
				_ = in.Close()
			}()
			return &http.Response{StatusCode: 200, Status: "200 OK", Header: http.Header{}, Body: out}, nil
		})
		for e, err := range f.client(t).Watch(t.Context(), "t") {
			if err != nil {
				t.Fatal(err)
			}
			if e.Type == client.EventGrant || len(f.requests()) > 1 {
				break
			}
		}
		if n := len(f.requests()); n != 1 {
			t.Errorf("%d connections", n)
		}
	})
}

func TestWatchEndsWithARefusalOrItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(func(*http.Request, int) (*http.Response, error) { return refuse(403, "FORBIDDEN") })
		var all []error
		for _, err := range f.client(t).Watch(t.Context(), "t") {
			all = append(all, err)
		}
		var no *client.Error
		if len(all) != 1 || !errors.As(all[0], &no) {
			t.Error(all)
		}

		f = newFake(func(r *http.Request, _ int) (*http.Response, error) { return stream(r, statusEvent, true) })
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		n := 0
		for _, err := range f.client(t).Watch(ctx, "t") {
			if n++; err != nil {
				t.Error(err)
			}
		}
		if n != 1 || time.Since(f.start) > 6*time.Second {
			t.Error(n, "events in", time.Since(f.start))
		}
	})
}

func TestANameCannotForgeAnEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		forged := strings.Replace(change("e-2", "grant"), `"n"`, `"a\n\nevent: expire\ndata: {}"`, 1)
		f := newFake(func(r *http.Request, _ int) (*http.Response, error) {
			return stream(r, forged+change("e-3", "leave"), true)
		})
		var got []client.EventType
		for e, err := range f.client(t).Watch(t.Context(), "t") {
			if err != nil {
				t.Fatal(err)
			}
			if got = append(got, e.Type); len(got) == 2 {
				break
			}
		}
		if !slices.Equal(got, []client.EventType{client.EventGrant, client.EventLeave}) {
			t.Error(got)
		}
	})
}
