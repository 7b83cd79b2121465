//go:build unix

package dirstore_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"legible.sh/mutex/internal/dirstore"
	"legible.sh/mutex/internal/locker"
)

// fails makes every operation whose label begins so fail.
func fails(s *dirstore.Store, prefix string, err error) {
	s.Hook(func(label string) error {
		if strings.HasPrefix(label, prefix) {
			return err
		}
		return nil
	})
}

func TestAFileSystemWithoutLocksIsSaid(t *testing.T) {
	s := open(t, t.TempDir())
	fails(s, "guard.flock", syscall.ENOSYS)
	_, err := s.Acquire(t.Context(), "k", forever)
	if !errors.Is(err, dirstore.ErrNoFlock) || !strings.Contains(err.Error(), "--dir") {
		t.Fatalf("it says: %v", err)
	}
	if st := status(t, s, "k"); st.State != locker.Free {
		t.Errorf("it is %s", st.State)
	}
}

func TestAReadOnlyDirectoryIsSaid(t *testing.T) {
	s := open(t, t.TempDir())
	g := acquire(t, s, "k", time.Minute)
	fails(s, "", syscall.EROFS)
	_, renewed := s.Renew(t.Context(), "k", g.Token, 0)
	_, released := s.Release(t.Context(), "k", g.Token)
	_, acquired := s.Acquire(t.Context(), "another", forever)
	for what, err := range map[string]error{"renew": renewed, "release": released, "acquire": acquired} {
		if !errors.Is(err, syscall.EROFS) || !strings.Contains(err.Error(), "nothing was") || errors.Is(err, locker.ErrGone) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := s.Check(t.Context(), "k", g.Token); err != nil {
		t.Errorf("reading needs no writing: %v", err)
	}
}

// TestAFullDisk: nothing new is granted, and what is held can be kept and given back.
func TestAFullDisk(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	g := acquire(t, s, "k", time.Minute)
	room := filepath.Join(dir, "locks", "k", "room")
	s.Hook(func(label string) error {
		if _, err := os.Stat(room); err == nil && strings.HasSuffix(label, ".write") {
			return syscall.ENOSPC // until what was set aside is given up
		}
		return nil
	})
	if _, err := s.Acquire(t.Context(), "k", forever); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("queueing: %v", err)
	}
	if _, err := s.Renew(t.Context(), "k", g.Token, 0); err != nil {
		t.Errorf("renewal: %v", err)
	}
	s.Hook(nil)
	if _, err := s.Renew(t.Context(), "k", g.Token, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(room); err != nil {
		t.Errorf("the room is not set aside anew: %v", err)
	}
	release(t, s, g)
	fails(s, "grant.write", syscall.ENOSPC)
	if _, err := s.Acquire(t.Context(), "k", forever); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("acquire: %v", err)
	}
	if st := status(t, s, "k"); st.State != locker.Free {
		t.Errorf("it is %s", st.State)
	}
	s.Hook(nil)
	if g := acquire(t, s, "k", time.Minute); g.Fence != 2 {
		t.Errorf("fence %d", g.Fence)
	}
}

// TestASyncThatFailsGrantsNothing: what may not be on disk is not told as granted.
func TestASyncThatFailsGrantsNothing(t *testing.T) {
	s := open(t, t.TempDir())
	fails(s, "grant.syncdir", syscall.EIO)
	if _, err := s.Acquire(t.Context(), "k", forever); !errors.Is(err, syscall.EIO) {
		t.Fatal(err)
	}
	s.Hook(nil)
	if st := status(t, s, "k"); st.State != locker.Free {
		t.Errorf("it is %s", st.State)
	}
	if g := acquire(t, s, "k", time.Minute); g.Fence != 2 {
		t.Errorf("the fence that may have been seen is granted again: %d", g.Fence)
	}
}

// TestAGuardThatIsNotFree: who hangs in a change holds up changes, for a while, and never a look.
func TestAGuardThatIsNotFree(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	g := acquire(t, s, "k", time.Minute)
	hanging, resume := open(t, dir), make(chan struct{})
	inside := make(chan struct{})
	hanging.Hook(func(label string) error {
		if label == "turn.begin" {
			close(inside)
			<-resume
		}
		return nil
	})
	done := make(chan error, 1)
	go func() {
		_, err := hanging.Renew(context.Background(), "k", g.Token, 0)
		done <- err
	}()
	<-inside
	s.GuardPatience(10 * time.Millisecond)
	var held *dirstore.GuardError
	if _, err := s.Renew(t.Context(), "k", g.Token, 0); !errors.As(err, &held) || !strings.HasSuffix(held.Path, "guard") {
		t.Errorf("renewal: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.GuardPatience(time.Hour)
	if _, err := s.Renew(ctx, "k", g.Token, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("whoever waits for a guard can be called off: %v", err)
	}
	if st := status(t, s, "k"); st.State != locker.Held {
		t.Errorf("a look: %+v", st)
	}
	close(resume)
	within(t, done)
	release(t, s, g)
}

// lockGuard takes a guard as another process would, and gives what frees it.
func lockGuard(t *testing.T, path string) (free func()) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	locked := make(chan error, 1)
	go func() { locked <- syscall.Flock(int(f.Fd()), syscall.LOCK_EX) }()
	within(t, locked)
	return func() { _ = f.Close() }
}

// TestWhoTriesAGuardAgainLeavesNothingBehind: a wait in the kernel cannot be called off, and would be one thread and one open
// file more each time.
func TestWhoTriesAGuardAgainLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	g := acquire(t, s, "k", time.Minute)
	path := filepath.Join(dir, "locks", "k", "guard")
	free := lockGuard(t, path)
	s.GuardPatience(time.Millisecond)
	before := runtime.NumGoroutine()
	for range 50 {
		if _, err := s.Renew(t.Context(), "k", g.Token, 0); !errors.Is(err, dirstore.ErrGuard) {
			t.Fatal(err)
		}
	}
	if n := runtime.NumGoroutine() - before; n > 1 {
		t.Errorf("%d goroutines wait for the guard", n)
	}
	done := make(chan error, 1)
	s.GuardPatience(time.Minute)
	go func() {
		_, err := s.Renew(context.Background(), "k", g.Token, 0)
		done <- err
	}()
	free()
	within(t, done)
	free = lockGuard(t, path) // what nobody waits for any more has let go
	s.GuardPatience(time.Millisecond)
	if _, err := s.Renew(t.Context(), "k", g.Token, 0); !errors.Is(err, dirstore.ErrGuard) {
		t.Fatal(err)
	}
	free()
	lockGuard(t, path)()
	s.GuardPatience(time.Minute)
	release(t, s, g)
}

// TestAGuardThatWasReplaced: a lock on a file that is not there any more keeps nobody out, and is not relied on.
func TestAGuardThatWasReplaced(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	release(t, s, acquire(t, s, "k", time.Minute))
	path := filepath.Join(dir, "locks", "k", "guard")
	locks := 0
	s.Hook(func(label string) error {
		if label == "guard.flock" {
			if locks++; locks == 1 {
				return errors.Join(os.Remove(path), os.WriteFile(path, nil, 0o600))
			}
		}
		return nil
	})
	acquire(t, s, "k", time.Minute)
	if locks != 2 {
		t.Errorf("locked %d times", locks)
	}
}

func TestFilesAreTheirOwnersAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	s := open(t, dir)
	acquire(t, s, "k", time.Minute)
	wantModes(t, dir, 0o700, 0o600)
}

// TestAGroupSharesARootThatWasOpenedToIt also under a umask that would keep it out.
func TestAGroupSharesARootThatWasOpenedToIt(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o777|fs.ModeSetgid); err != nil {
		t.Fatal(err)
	}
	s := open(t, dir)
	acquire(t, s, "k", time.Minute)
	wantModes(t, filepath.Join(dir, "locks"), 0o770|fs.ModeSetgid, 0o660)
}

func wantModes(t *testing.T, root string, dirs, plain fs.FileMode) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		want := plain
		if e.IsDir() {
			want = dirs
		}
		if got := info.Mode() & (fs.ModePerm | fs.ModeSetgid); got != want {
			t.Errorf("%s is %v, not %v", path, got, want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
