package dirstore_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"legible.sh/mutex/internal/dirstore"
	"legible.sh/mutex/internal/locker"
)

// wantHistory compares the events of key "k", newest first.
func wantHistory(t *testing.T, s *dirstore.Store, want ...string) {
	t.Helper()
	events, err := s.History(t.Context(), locker.HistoryQuery{Key: "k"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range events {
		line := string(e.Kind) + " " + e.Name
		if e.By != "" {
			line += " by " + e.By
		}
		got = append(got, line)
	}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("history:\n%s\nwant:\n%s", g, w)
	}
}

func TestHistoryAnswersQueries(t *testing.T) {
	s := open(t, t.TempDir())
	g := acquire(t, s, "k", time.Minute)
	if _, err := s.Renew(t.Context(), "k", g.Token, 0); err != nil {
		t.Fatal(err)
	}
	release(t, s, g)
	acquire(t, s, "other", time.Minute)
	for _, c := range []struct {
		what  string
		query locker.HistoryQuery
		want  int
	}{
		{"all keys", locker.HistoryQuery{}, 3},
		{"one key", locker.HistoryQuery{Key: "k"}, 2},
		{"renewals too", locker.HistoryQuery{Key: "k", Renewed: true}, 3},
		{"a limit", locker.HistoryQuery{Limit: 1}, 1},
		{"the future", locker.HistoryQuery{Since: time.Now().Add(time.Hour)}, 0},
	} {
		if events, err := s.History(t.Context(), c.query); err != nil || len(events) != c.want {
			t.Errorf("%s: %d events, %v", c.what, len(events), err)
		}
	}
	events, err := s.History(t.Context(), locker.HistoryQuery{Key: "k"})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if e.LeaseID == "" || e.LeaseID != events[0].LeaseID || e.Fence != 1 || e.TTL != time.Minute || e.Time.IsZero() {
			t.Errorf("event: %+v", e)
		}
	}
}

// TestHistoryMovesIntoItsDatabase: the file that takes the events does not grow for ever, and nothing is lost or told
// twice on the way.
func TestHistoryMovesIntoItsDatabase(t *testing.T) {
	dir := t.TempDir()
	const cycles = 400
	for range 4 { // a store is a process's
		s := open(t, dir)
		for range cycles / 4 {
			release(t, s, acquire(t, s, "k", time.Minute))
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(filepath.Join(dir, "history.jsonl"))
	if err != nil || info.Size() > 80<<10 {
		t.Fatalf("%v, %v", info.Size(), err)
	}
	if _, err := os.Stat(filepath.Join(dir, "history.db")); err != nil {
		t.Fatal(err)
	}
	events, err := open(t, dir).History(t.Context(), locker.HistoryQuery{Key: "k"})
	if err != nil || len(events) != 2*cycles {
		t.Fatalf("%d events of %d, %v", len(events), 2*cycles, err)
	}
	for i, e := range events {
		if fence := int64(cycles - i/2); e.Fence != fence {
			t.Fatalf("event %d has fence %d, not %d", i, e.Fence, fence)
		}
		if e.ID != int64(len(events)-i) {
			t.Fatalf("event %d has id %d", i, e.ID)
		}
	}
}

func TestABrokenHistoryBlocksNothing(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"history.jsonl", "history.db"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	var warnings []error
	s, err := dirstore.Open(dirstore.Options{Dir: dir, Warn: func(err error) { warnings = append(warnings, err) }})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		release(t, s, acquire(t, s, "k", time.Minute))
	}
	if len(warnings) != 1 {
		t.Errorf("warned %d times: %v", len(warnings), warnings)
	}
	if _, err := s.History(t.Context(), locker.HistoryQuery{}); err == nil {
		t.Error("a history that cannot be read is told as an empty one")
	}
}

func TestATornLineCostsNoOther(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	acquire(t, s, "k", time.Minute)
	f, err := os.OpenFile(filepath.Join(dir, "history.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString("{\"ts\": \"20\n")
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	acquire(t, s, "other", time.Minute)
	if events, err := s.History(t.Context(), locker.HistoryQuery{}); err != nil || len(events) != 2 {
		t.Errorf("%d events, %v", len(events), err)
	}
}
