package dirstore_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"legible.sh/mutex/internal/dirstore"
	"legible.sh/mutex/internal/locker"
)

var crashRequest = locker.Request{Who: locker.Who{Name: "crash"}, TTL: time.Hour, Wait: locker.Forever}

// operation is one change of the key "crash".
type operation struct {
	// prepare makes what the change finds, and gives the token that it needs.
	prepare func(t *testing.T, s *dirstore.Store, dir string) string
	do      func(s *dirstore.Store, token string) error
}

var operations map[string]operation

func init() { // not in its declaration: the roles that the operations are done by refer to it
	background := context.Background()
	held := func(t *testing.T, s *dirstore.Store, _ string) string {
		return acquire(t, s, "crash", time.Hour).Token.Reveal()
	}
	expired := func(t *testing.T, s *dirstore.Store, dir string) string {
		token := acquire(t, s, "crash", 100*time.Millisecond).Token.Reveal()
		eventually(t, "expired", func() bool { return status(t, s, "crash").State == locker.Expired })
		return token
	}
	take := func(s *dirstore.Store, _ string) error {
		_, err := s.Acquire(background, "crash", crashRequest)
		return err
	}
	operations = map[string]operation{
		"first use": {func(*testing.T, *dirstore.Store, string) string { return "" }, take},
		"acquire": {func(t *testing.T, s *dirstore.Store, _ string) string {
			release(t, s, acquire(t, s, "crash", time.Hour))
			return ""
		}, take},
		"queue and take": {held, queueAndTake},
		"take over":      {expired, take},
		"renew": {held, func(s *dirstore.Store, token string) error {
			_, err := s.Renew(background, "crash", locker.Token(token), 0)
			return err
		}},
		"release": {held, func(s *dirstore.Store, token string) error {
			_, err := s.Release(background, "crash", locker.Token(token))
			return err
		}},
		"force": {held, force},
		"prune": {expired, func(s *dirstore.Store, _ string) error {
			_, err := s.Prune(background)
			return err
		}},
		"mend": {func(t *testing.T, s *dirstore.Store, dir string) string {
			held(t, s, dir)
			write(t, filepath.Join(dir, "locks", "crash", "holder.json"), "{")
			return ""
		}, force},
		"give up": {held, func(s *dirstore.Store, _ string) error {
			r := crashRequest
			r.Wait = 30 * time.Millisecond
			_, err := s.Acquire(background, "crash", r)
			if errors.Is(err, locker.ErrTimeout) {
				err = nil
			}
			return err
		}},
	}
}

// queueAndTake waits in line until somebody else gives the key back, once it stands there.
func queueAndTake(s *dirstore.Store, token string) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		other, err := dirstore.Open(dirstore.Options{Dir: s.Dir()})
		for err == nil && ctx.Err() == nil {
			if st, _ := other.Status(ctx, "crash"); st.Waiting == 1 {
				_, _ = other.Release(ctx, "crash", locker.Token(token)) // if it fails, nobody is granted, and the test says so
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	_, err := s.Acquire(ctx, "crash", crashRequest)
	return err
}

func force(s *dirstore.Store, _ string) error {
	_, err := s.ForceRelease(context.Background(), "crash", locker.Force{By: locker.Who{Name: "boss"}})
	return err
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestDeathAtEveryStep kills a process at each file operation of each change. Whatever it leaves behind, the next one
// who comes gets the key, once the dead one's lease is over, with a fence above all before.
func TestDeathAtEveryStep(t *testing.T) {
	for name, op := range operations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			steps := stepsOf(t, op)
			if len(steps) < 4 {
				t.Fatalf("only these steps have a label: %v", steps)
			}
			for _, step := range steps {
				t.Run(step, func(t *testing.T) { dieAt(t, name, step) })
			}
		})
	}
}

// stepsOf runs the operation to its end and notes the labels it passes.
func stepsOf(t *testing.T, op operation) (steps []string) {
	dir := t.TempDir()
	token := op.prepare(t, open(t, dir), dir)
	s := open(t, dir)
	s.Hook(numbered(func(step string) error {
		steps = append(steps, step)
		return nil
	}))
	if err := op.do(s, token); err != nil {
		t.Fatal(err)
	}
	return steps
}

// numbered tells a label that comes again from its first time: "fence.rename 2".
func numbered(f func(step string) error) func(label string) error {
	seen := map[string]int{}
	return func(label string) error {
		seen[label]++
		return f(fmt.Sprint(label, " ", seen[label]))
	}
}

func dieAt(t *testing.T, name, step string) {
	dir := t.TempDir()
	s := open(t, dir)
	token := operations[name].prepare(t, s, dir)
	before := highestFence(t, s)
	err := play("die", dir, name, step, token).Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Exited() {
		t.Fatalf("it did not die at %s: %v", step, err)
	}
	if st := status(t, s, "crash"); st.State == locker.Corrupt && name != "mend" || st.State == locker.Unreadable {
		t.Fatalf("it left %s: %s, with %s", st.State, st.Error, files(t, filepath.Join(dir, "locks", "crash")))
	}
	if name == "mend" {
		if err := force(s, ""); err != nil {
			t.Fatalf("mending again: %v", err)
		}
	}
	before = max(before, highestFence(t, s))
	later(s)
	g, err := s.Acquire(t.Context(), "crash", crashRequest)
	if err != nil {
		t.Fatalf("the next one does not get the key: %v", err)
	}
	if g.Fence <= before {
		t.Errorf("fence %d was granted after %d", g.Fence, before)
	}
	release(t, s, g)
	if got := files(t, filepath.Join(dir, "locks", "crash", "queue")); got != "" {
		t.Errorf("left in the queue: %s", got)
	}
}

// later is when every lease of these tests is over.
func later(s *dirstore.Store) {
	c := clocks{up: 2 * time.Hour}
	c.drive(s)
}

// highestFence is the highest that anybody can have seen granted.
func highestFence(t *testing.T, s *dirstore.Store) int64 {
	highest := int64(0)
	for _, h := range status(t, s, "crash").Holders {
		highest = h.Fence
	}
	names, err := filepath.Glob(filepath.Join(s.Dir(), "locks", "crash", "fence-*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		var n int64
		if _, err := fmt.Sscanf(filepath.Base(name), "fence-%d", &n); err != nil {
			t.Fatal(err)
		}
		highest = max(highest, n)
	}
	return highest
}

// TestFailureAtEveryStep makes each file operation of each change fail, as on a full or read-only disk. The change
// says so, and the next one who comes is not held up by it.
func TestFailureAtEveryStep(t *testing.T) {
	errDisk := errors.New("the disk said no")
	for name, op := range operations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, step := range stepsOf(t, op) {
				dir := t.TempDir()
				s := open(t, dir)
				token := op.prepare(t, s, dir)
				before := highestFence(t, s)
				s.Hook(numbered(func(at string) error {
					if at == step {
						return errDisk
					}
					return nil
				}))
				if err := op.do(s, token); err != nil && !errors.Is(err, errDisk) && !errors.Is(err, locker.ErrGone) {
					t.Errorf("%s failed: %v", step, err)
				}
				s.Hook(nil)
				if name == "mend" && status(t, s, "crash").State == locker.Corrupt {
					if err := force(s, ""); err != nil {
						t.Fatalf("after a failure at %s, mending again: %v", step, err)
					}
				}
				later(s)
				g, err := s.Acquire(t.Context(), "crash", crashRequest)
				if err != nil || g.Fence <= before {
					t.Fatalf("after a failure at %s: fence %d after %d, %v", step, g.Fence, before, err)
				}
			}
		})
	}
}
