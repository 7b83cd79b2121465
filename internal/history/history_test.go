package history_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"legible.sh/mutex/internal/history"
	"legible.sh/mutex/internal/lease"
)

// start is when the tests' events begin: recent, so that retention lets them be.
var start = time.Now().Add(-time.Hour).Truncate(time.Millisecond)

// open starts a store that ends with the test.
func open(t testing.TB, o history.Options) *history.Store {
	t.Helper()
	s := history.Open(o)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

// past is what a history in a file and one in memory have in common.
type past interface {
	Observe(topic lease.Topic, events []lease.Event)
	Query(ctx context.Context, q history.Query) ([]history.Event, error)
	Overview(ctx context.Context, q history.OverviewQuery) (*history.Overview, error)
	Stats() history.Stats
}

// both tests a history in a file, which writes only when it is asked, and one in memory.
func both(t *testing.T, now func() time.Time, test func(t *testing.T, h past)) {
	t.Helper()
	t.Run("file", func(t *testing.T) {
		s := open(t, history.Options{Path: path(t), Linger: time.Hour, Now: now})
		flush(t, s) // which opens it
		test(t, s)
	})
	t.Run("memory", func(t *testing.T) { test(t, history.NewMemory(history.MemoryOptions{Now: now})) })
}

func path(t testing.TB) string { return filepath.Join(t.TempDir(), "history.db") }

func token(n int) lease.Token {
	return lease.Token{0: 0xaa, 13: byte(n >> 16), 14: byte(n >> 8), 15: byte(n)}
}

// granted is the n-th grant, after a wait of 250 ms, with the ends that tests make of it.
func granted(n int) lease.Event {
	at := start.Add(time.Duration(n) * time.Second)
	return lease.Event{
		Kind: lease.Granted, At: at, Token: token(n), Key: lease.KeyOf("secret key"), Since: at,
		Who:   lease.Who{Name: "worker", Reason: "deploy", Host: "ci-7", PID: 4711},
		Fence: lease.Fence(n), Slot: 2, TTL: time.Minute, Enqueued: at.Add(-250 * time.Millisecond),
	}
}

func after(e lease.Event, d time.Duration, kind lease.Kind) lease.Event {
	e.Kind, e.At = kind, e.At.Add(d)
	return e
}

func query(t testing.TB, s past, q history.Query) []history.Event {
	t.Helper()
	events, err := s.Query(t.Context(), q)
	if err != nil {
		t.Fatalf("Query(%+v): %v", q, err)
	}
	return events
}

// flush waits until everything is on record, for which a query may not have the patience on a busy machine; in memory it
// is so at once.
func flush(t testing.TB, h past) {
	t.Helper()
	s, ok := h.(*history.Store)
	if !ok {
		return
	}
	if err := s.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

// holdsNone looks for a lease in a file, as bytes and as text.
func holdsNone(t testing.TB, file string, secret lease.Token) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	key := lease.KeyOf("secret key")
	for _, s := range []string{secret.Reveal(), string(secret[:]), "secret key", string(key[:])} {
		if strings.Contains(string(content), s) {
			t.Errorf("%s holds a secret", file)
		}
	}
}

func isUnavailable(err error) bool { return errors.Is(err, history.ErrUnavailable) }
