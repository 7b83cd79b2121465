package dirstore_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"legible.sh/mutex/internal/dirstore"
	"legible.sh/mutex/internal/locker"
)

// actor is a process of a scenario. It is killed when the test ends.
type actor struct {
	*exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func start(t testing.TB, role string, args ...string) *actor {
	t.Helper()
	a := &actor{Cmd: play(role, args...)}
	in, err := a.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := a.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	a.in, a.out = in, bufio.NewReader(out)
	if err := a.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = a.Process.Kill()
		_ = a.Wait()
	})
	return a
}

// kill ends the process by SIGKILL, and waits until it is gone.
func (a *actor) kill(t testing.TB) {
	t.Helper()
	if err := a.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = a.Wait()
}

// enqueue starts a process that waits for a key, and waits until it stands in line.
func enqueue(t testing.TB, s *dirstore.Store, key, name string) *actor {
	t.Helper()
	before := len(status(t, s, key).Waiters)
	a := start(t, "queue", s.Dir(), key, name)
	eventually(t, name+" stands in line", func() bool { return len(status(t, s, key).Waiters) == before+1 })
	return a
}

// order is who was granted, in the order of the grants.
func order(dir string) string {
	b, _ := os.ReadFile(filepath.Join(dir, "order"))
	return strings.Join(strings.Fields(string(b)), " ")
}

func TestFirstInFirstOut(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	g := acquire(t, s, "k", time.Minute)
	for i := range 6 {
		enqueue(t, s, "k", fmt.Sprint(i))
	}
	st := status(t, s, "k")
	for i, w := range st.Waiters {
		if w.Name != fmt.Sprint(i) || w.Position != i+1 || w.Away || w.Since.IsZero() {
			t.Errorf("waiter %d: %+v", i, w)
		}
	}
	if _, err := s.Acquire(t.Context(), "k", locker.Request{}); !errors.Is(err, locker.ErrBusy) {
		t.Errorf("behind a queue, without a wait: %v", err)
	}
	release(t, s, g)
	eventually(t, "all were granted", func() bool { return order(dir) == "0 1 2 3 4 5" })
	eventually(t, "the queue is empty", func() bool { return files(t, filepath.Join(dir, "locks", "k", "queue")) == "" })
}

func TestTheDeadArePassedOver(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	g := acquire(t, s, "k", time.Minute)
	first, _, third := enqueue(t, s, "k", "first"), enqueue(t, s, "k", "second"), enqueue(t, s, "k", "third")
	enqueue(t, s, "k", "fourth")
	first.kill(t)
	third.kill(t)
	for i, w := range status(t, s, "k").Waiters {
		if dead := i%2 == 0; w.Away != dead {
			t.Errorf("%s is away: %v", w.Name, w.Away)
		}
	}
	if st := status(t, s, "k"); st.Waiting != 2 {
		t.Errorf("%d wait", st.Waiting)
	}
	release(t, s, g)
	eventually(t, "the living were granted", func() bool { return order(dir) == "second fourth" })
}

func TestPruneDropsTheDead(t *testing.T) {
	s := open(t, t.TempDir())
	acquire(t, s, "k", time.Minute)
	_, second := enqueue(t, s, "k", "first"), enqueue(t, s, "k", "second")
	second.kill(t)
	if p, err := s.Prune(t.Context()); err != nil || p.Pruned != 1 || p.Remaining != 1 {
		t.Fatalf("%+v, %v", p, err)
	}
	if st := status(t, s, "k"); len(st.Waiters) != 1 || st.Waiters[0].Name != "first" || st.State != locker.Held {
		t.Errorf("left: %+v", st)
	}
}

func TestWaitThatRanOut(t *testing.T) {
	s := open(t, t.TempDir())
	acquire(t, s, "k", time.Minute)
	_, err := s.Acquire(t.Context(), "k", locker.Request{Wait: 20 * time.Millisecond})
	var busy *locker.BusyError
	if !errors.As(err, &busy) || !errors.Is(err, locker.ErrTimeout) || busy.Holders[0] != "tester" || busy.Waited < 20*time.Millisecond {
		t.Fatalf("%v, %+v", err, busy)
	}
	if st := status(t, s, "k"); len(st.Waiters) != 0 {
		t.Errorf("its place is still there: %+v", st.Waiters)
	}
}

func TestGivingUpLeavesTheQueue(t *testing.T) {
	s := open(t, t.TempDir())
	g := acquire(t, s, "k", time.Minute)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	result := make(chan error, 1)
	go func() {
		_, err := s.Acquire(ctx, "k", forever)
		result <- err
	}()
	eventually(t, "it waits", func() bool { return status(t, s, "k").Waiting == 1 })
	cancel(why)
	if err := <-result; !errors.Is(err, why) {
		t.Fatal(err)
	}
	if st := status(t, s, "k"); len(st.Waiters) != 0 {
		t.Errorf("its place is still there: %+v", st.Waiters)
	}
	release(t, s, g)
	if st := status(t, s, "k"); st.State != locker.Free {
		t.Errorf("granted to one who gave up: %+v", st)
	}
}

// TestReleaseWakesTheNext leaves the waiter nothing to wake up by but the notification.
func TestReleaseWakesTheNext(t *testing.T) {
	s := open(t, t.TempDir())
	s.OnlyNotified()
	g := acquire(t, s, "k", time.Hour)
	granted := make(chan error, 1)
	go func() {
		_, err := s.Acquire(t.Context(), "k", forever)
		granted <- err
	}()
	eventually(t, "it waits", func() bool { return status(t, s, "k").Waiting == 1 })
	release(t, s, g)
	within(t, granted)
}

// TestExpiryWakesTheNext: the one at the head knows when the lease ends.
func TestExpiryWakesTheNext(t *testing.T) {
	s := open(t, t.TempDir())
	s.OnlyNotified()
	acquire(t, s, "k", 200*time.Millisecond)
	granted := make(chan error, 1)
	go func() {
		_, err := s.Acquire(t.Context(), "k", forever)
		granted <- err
	}()
	within(t, granted)
}

func within(t *testing.T, result <-chan error) {
	t.Helper()
	select {
	case err := <-result:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("nothing woke it")
	}
}

func TestWaitSeesALeaseEnd(t *testing.T) {
	for name, end := range map[string]func(s *dirstore.Store, g locker.Grant) error{
		"release": func(s *dirstore.Store, g locker.Grant) error {
			_, err := s.Release(context.Background(), "k", g.Token)
			return err
		},
		"force": func(s *dirstore.Store, _ locker.Grant) error {
			_, err := s.ForceRelease(context.Background(), "k", locker.Force{})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, t.TempDir())
			g := acquire(t, s, "k", time.Hour)
			watcher := open(t, s.Dir())
			watcher.OnlyNotified()
			done := make(chan error, 1)
			go func() {
				_, err := watcher.Wait(t.Context(), "k")
				done <- err
			}()
			if _, err := s.Renew(t.Context(), "k", g.Token, 0); err != nil { // no end
				t.Fatal(err)
			}
			if err := end(s, g); err != nil {
				t.Fatal(err)
			}
			within(t, done)
		})
	}
}

func TestProgressIsTold(t *testing.T) {
	s := open(t, t.TempDir())
	g := acquire(t, s, "k", time.Minute)
	told := make(chan locker.Progress, 16)
	r := forever
	r.Progress = func(p locker.Progress) { told <- p }
	granted := make(chan error, 1)
	go func() {
		_, err := s.Acquire(t.Context(), "k", r)
		granted <- err
	}()
	p := <-told
	if len(p.Holders) != 1 || p.Holders[0] != "tester" || p.Position != 1 || p.Waiting != 1 || p.RetryAfter <= 0 {
		t.Errorf("told %+v", p)
	}
	release(t, s, g)
	within(t, granted)
}
