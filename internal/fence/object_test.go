package fence_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"legible.sh/mutex/internal/fence"
)

// store is one object that takes conditional requests.
type store struct {
	mu      sync.Mutex
	body    string
	version int
	// before, if set, is called once before the next PUT is looked at.
	before func(*store)
}

func (s *store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	tag := fmt.Sprintf(`"v%d"`, s.version)
	switch r.Method {
	case http.MethodGet:
		if s.version == 0 {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("ETag", tag)
		_, _ = io.WriteString(w, s.body)
	case http.MethodPut:
		if f := s.before; f != nil {
			s.before = nil
			f(s)
			tag = fmt.Sprintf(`"v%d"`, s.version)
		}
		if s.version > 0 && r.Header.Get("If-Match") != tag || s.version == 0 && r.Header.Get("If-None-Match") != "*" {
			w.WriteHeader(http.StatusPreconditionFailed)
			return
		}
		b, _ := io.ReadAll(r.Body)
		s.put(string(b))
	}
}

func (s *store) put(body string) {
	s.version++
	s.body = body
}

func serve(t *testing.T, h http.Handler) fence.Object {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return fence.Object{URL: server.URL + "/state.fence?secret=1"}
}

func TestAnObjectRefusesALowerFence(t *testing.T) {
	o := serve(t, &store{})
	for _, step := range []struct {
		n     int64
		stale bool
	}{{41, false}, {41, false}, {43, false}, {42, true}, {43, false}} {
		err := o.Admit(t.Context(), step.n)
		if step.stale != errors.Is(err, fence.ErrStale) || !step.stale && err != nil {
			t.Fatalf("fence %d: %v", step.n, err)
		}
	}
	if n, err := o.Highest(t.Context()); n != 43 || err != nil {
		t.Errorf("%d %v", n, err)
	}
}

// TestAHigherFenceInBetweenWins has somebody write between the look and the put.
func TestAHigherFenceInBetweenWins(t *testing.T) {
	for _, first := range []string{"", "40\n"} {
		s := &store{}
		if first != "" {
			s.put(first)
		}
		s.before = func(s *store) { s.put("42\n") }
		if err := serve(t, s).Admit(t.Context(), 41); !errors.Is(err, fence.ErrStale) {
			t.Errorf("over %q: %v", first, err)
		}
		if s.body != "42\n" {
			t.Errorf("over %q: %q is kept", first, s.body)
		}
	}
}

func TestALowerFenceInBetweenIsNoReasonToGiveUp(t *testing.T) {
	s := &store{before: func(s *store) { s.put("40\n") }}
	if err := serve(t, s).Admit(t.Context(), 41); err != nil || s.body != "41\n" {
		t.Errorf("%v, %q is kept", err, s.body)
	}
}

func TestWhatCannotCompareIsRefused(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"no ETag":     func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "1\n") },
		"holds no":    func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("ETag", `"1"`) },
		"401":         func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) },
		"strong ETag": func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("ETag", `W/"1"`) },
	} {
		want := name
		if want == "no ETag" {
			want = "no strong ETag"
		}
		err := serve(t, h).Admit(t.Context(), 1)
		if err == nil || errors.Is(err, fence.ErrStale) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%v says what may be a secret", err)
		}
	}
}

func TestHeadersAreSentAlong(t *testing.T) {
	s := &store{}
	o := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer x" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		s.ServeHTTP(w, r)
	}))
	o.Header = http.Header{"Authorization": {"Bearer x"}}
	if err := o.Admit(t.Context(), 1); err != nil || s.body != "1\n" {
		t.Errorf("%v %q", err, s.body)
	}
}
