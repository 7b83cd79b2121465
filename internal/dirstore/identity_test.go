package dirstore_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"legible.sh/mutex/internal/locker"
)

// TestWhoIsTakenForAlive plants waiters of all kinds, made from a real one's file.
func TestWhoIsTakenForAlive(t *testing.T) {
	for _, c := range []struct {
		what    string
		process map[string]any // what is different about the process
		silent  time.Duration
		lives   bool
	}{
		{"a living process", nil, 0, true},
		{"one that is starved of CPU", nil, 4 * time.Minute, true},
		{"one that is stopped", nil, 6 * time.Minute, false},
		{"a number that went to another process", map[string]any{"start": "1"}, 0, false},
		{"a number that nobody has", map[string]any{"pid": 1 << 30}, 0, false},
		{"the same number in another container", map[string]any{"pid_ns": "pid:[1]"}, 10 * time.Second, true},
		{"the same number in another container, silent", map[string]any{"pid_ns": "pid:[1]"}, 40 * time.Second, false},
		{"another machine", map[string]any{"boot_id": "another", "pid": 1 << 30}, 10 * time.Second, true},
		{"another machine, silent", map[string]any{"boot_id": "another"}, 40 * time.Second, false},
		{"one who does not say who it is", map[string]any{"boot_id": "", "pid": 0}, 10 * time.Second, true},
		{"one who does not say who it is, silent", map[string]any{"boot_id": "", "pid": 0}, 40 * time.Second, false},
	} {
		t.Run(c.what, func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, dir)
			acquire(t, s, "k", time.Minute)
			enqueue(t, s, "k", "real")
			plant(t, filepath.Join(dir, "locks", "k", "queue"), c.process, c.silent)
			st := status(t, s, "k")
			if planted := st.Waiters[1]; planted.Away == c.lives {
				t.Errorf("lives: %v, want %v", !planted.Away, c.lives)
			}
			if _, err := s.Prune(t.Context()); err != nil {
				t.Fatal(err)
			}
			if left := len(status(t, s, "k").Waiters); (left == 2) != c.lives {
				t.Errorf("pruning left %d waiters", left)
			}
		})
	}
}

// plant puts a second waiter behind the one in the queue.
func plant(t *testing.T, queue string, process map[string]any, silent time.Duration) {
	t.Helper()
	places, err := filepath.Glob(filepath.Join(queue, "*.json"))
	if err != nil || len(places) != 1 {
		t.Fatal(places, err)
	}
	text, err := os.ReadFile(places[0])
	if err != nil {
		t.Fatal(err)
	}
	var w map[string]any
	if err := json.Unmarshal(text, &w); err != nil {
		t.Fatal(err)
	}
	for name, value := range process {
		w["process"].(map[string]any)[name] = value
	}
	if text, err = json.Marshal(w); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(queue, "00000099-0123456789abcdef.json")
	write(t, path, string(text))
	then := time.Now().Add(-silent)
	if err := os.Chtimes(path, then, then); err != nil {
		t.Fatal(err)
	}
}

// TestAClockThatIsSetKillsNobody: a heartbeat is a time of the wall clock, and a jump of that is not silence.
func TestAClockThatIsSetKillsNobody(t *testing.T) {
	for what, by := range map[string]time.Duration{"ahead": time.Hour, "back": -time.Hour} {
		t.Run(what, func(t *testing.T) {
			c := &clocks{}
			s := open(t, t.TempDir())
			acquire(t, s, "k", 5*time.Hour)
			enqueue(t, s, "k", "real")
			c.drive(s)
			c.set(func(c *clocks) { c.wall = by })
			if w := status(t, s, "k").Waiters[0]; w.Away {
				t.Errorf("taken for dead: %+v", w)
			}
		})
	}
}

// TestAWaitersFileThatCannotBeRead is a waiter of whom nothing is known.
func TestAWaitersFileThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	release(t, s, acquire(t, s, "k", time.Minute))
	path := filepath.Join(dir, "locks", "k", "queue", "00000001-0123456789abcdef.json")
	write(t, path, "{")
	if st := status(t, s, "k"); len(st.Waiters) != 1 || st.Waiters[0].Away {
		t.Fatalf("%+v", st)
	}
	then := time.Now().Add(-time.Minute)
	if err := os.Chtimes(path, then, then); err != nil {
		t.Fatal(err)
	}
	acquire(t, s, "k", time.Minute)
	if got := files(t, filepath.Dir(path)); got != "" {
		t.Errorf("left in the queue: %s", got)
	}
}

// TestOtherFilesAreLeftAlone: what is not ours is no key, no waiter and no fence.
func TestOtherFilesAreLeftAlone(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	release(t, s, acquire(t, s, "k", time.Minute))
	for _, name := range []string{
		"locks/.DS_Store", "locks/%", "locks/%2", "locks/%zz", "locks/a%3ab", "locks/a%62", "locks/a b", "locks/-",
		"locks/k/fence-x", "locks/k/fence--1", "locks/k/queue/x.json", "locks/k/queue/1-.json", "locks/k/queue/.nfs1",
	} {
		write(t, filepath.Join(dir, filepath.FromSlash(name)), "{}")
	}
	if all, err := s.List(t.Context(), locker.ListQuery{State: locker.Free}); err != nil || len(all) != 1 || all[0].Key != "k" || len(all[0].Waiters) != 0 {
		t.Errorf("%+v, %v", all, err)
	}
	if g := acquire(t, s, "k", time.Minute); g.Fence != 2 {
		t.Errorf("fence %d", g.Fence)
	}
}
