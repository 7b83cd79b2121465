package dirstore_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"legible.sh/mutex/internal/dirstore"
	"legible.sh/mutex/internal/locker"
)

func TestLifeOfALease(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "not", "there", "yet"))
	if st := status(t, s, "deploy"); st.State != locker.Free {
		t.Fatalf("a key never used is %s", st.State)
	}
	g, err := s.Acquire(t.Context(), "deploy", locker.Request{
		Who: locker.Who{Name: "dora", Reason: "ship it", Host: "box", PID: 7}, TTL: time.Minute,
	})
	if err != nil || g.Fence != 1 || g.Name != "dora" || g.TTL != time.Minute || g.Capacity != 1 {
		t.Fatalf("grant: %+v, %v", g, err)
	}
	st := status(t, s, "deploy")
	h := st.Holders[0]
	if st.State != locker.Held || h.Name != "dora" || h.Reason != "ship it" || h.Host != "box" || h.PID != 7 || h.Fence != 1 {
		t.Fatalf("status: %+v", st)
	}
	if !h.Renewed.IsZero() {
		t.Error("renewed before it was")
	}
	if r, err := s.Check(t.Context(), "deploy", g.Token); err != nil || r.Fence != 1 {
		t.Fatalf("check: %+v, %v", r, err)
	}
	r, err := s.Renew(t.Context(), "deploy", g.Token, 2*time.Minute)
	if err != nil || r.TTL != 2*time.Minute || !r.Expires.After(g.Expires) {
		t.Fatalf("renewal: %+v, %v", r, err)
	}
	if r, err := s.Renew(t.Context(), "deploy", g.Token, 0); err != nil || r.TTL != 2*time.Minute {
		t.Fatalf("a renewal without a ttl keeps the last one: %+v, %v", r, err)
	}
	if h := status(t, s, "deploy").Holders[0]; h.Renewed.IsZero() {
		t.Error("a renewal does not show")
	}
	release(t, s, g)
	if st := status(t, s, "deploy"); st.State != locker.Free || len(st.Holders) != 0 {
		t.Fatalf("after the release: %+v", st)
	}
	if g := acquire(t, s, "deploy", time.Minute); g.Fence != 2 {
		t.Fatalf("the next fence is %d", g.Fence)
	}
}

func TestWhyALeaseIsRefused(t *testing.T) {
	s := open(t, t.TempDir())
	ctx := t.Context()
	g := acquire(t, s, "k", time.Minute)
	other := locker.Token(strings.Repeat("0", 32))
	_, busy := s.Acquire(ctx, "k", locker.Request{})
	_, renewed := s.Renew(ctx, "k", other, 0)
	_, released := s.Release(ctx, "k", "no token at all")
	_, checked := s.Check(ctx, "k", other)
	release(t, s, g)
	_, again := s.Release(ctx, "k", g.Token)
	_, late := s.Renew(ctx, "k", g.Token, 0)
	_, never := s.Release(ctx, "never-used", g.Token)
	for _, c := range []struct {
		what string
		err  error
		want error
	}{
		{"acquire of what is held", busy, locker.ErrBusy},
		{"renewal with another token", renewed, locker.ErrNotHolder},
		{"release with another token", released, locker.ErrNotHolder},
		{"check with another token", checked, locker.ErrNotHolder},
		{"a second release", again, locker.ErrNotHeld},
		{"renewal after the release", late, locker.ErrNotHeld},
		{"release of a key never used", never, locker.ErrNotHeld},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v, not %v", c.what, c.err, c.want)
		}
		if c.err != nil && strings.Contains(c.err.Error(), g.Token.Reveal()) {
			t.Errorf("%s: the error shows the token", c.what)
		}
	}
	var facts *locker.BusyError
	if !errors.As(busy, &facts) || len(facts.Holders) != 1 || facts.Holders[0] != "tester" || facts.RetryAfter <= 0 {
		t.Errorf("busy says %+v", facts)
	}
}

func TestBadRequestsChangeNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	s := open(t, dir)
	for _, key := range []string{"", "-k", ".k", "/k", "a b", "k\n", "ü", "a_b" + strings.Repeat("x", 78), "a%2F"} {
		if _, err := s.Acquire(t.Context(), key, locker.Request{}); !errors.Is(err, locker.ErrUsage) {
			t.Errorf("key %q: %v", key, err)
		}
		if _, err := s.Status(t.Context(), key); !errors.Is(err, locker.ErrUsage) {
			t.Errorf("status of key %q: %v", key, err)
		}
	}
	for what, r := range map[string]locker.Request{
		"a semaphore":    {Capacity: 2},
		"a negative ttl": {TTL: -1},
		"an age":         {TTL: 400 * 24 * time.Hour},
		"a long name":    {Who: locker.Who{Name: strings.Repeat("n", 129)}},
	} {
		if _, err := s.Acquire(t.Context(), "k", r); !errors.Is(err, locker.ErrUsage) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a refused request made the directory")
	}
}

func TestReadingMakesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	s := open(t, dir)
	ctx := t.Context()
	status(t, s, "k")
	if all, err := s.List(ctx, locker.ListQuery{}); err != nil || len(all) != 0 {
		t.Errorf("list: %v, %v", all, err)
	}
	if all, err := s.History(ctx, locker.HistoryQuery{}); err != nil || len(all) != 0 {
		t.Errorf("history: %v, %v", all, err)
	}
	if st, err := s.Wait(ctx, "k"); err != nil || st.State != locker.Free {
		t.Errorf("wait: %v, %v", st, err)
	}
	if p, err := s.Prune(ctx); err != nil || p.Pruned != 0 {
		t.Errorf("prune: %v, %v", p, err)
	}
	if f, err := s.ForceRelease(ctx, "k", locker.Force{}); err != nil || len(f.Released) != 0 {
		t.Errorf("force-release: %v, %v", f, err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Error("reading made the directory")
	}
}

func TestKeysAreTheirDirectoriesNames(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	acquire(t, s, "deploy:eu/west-1", time.Minute)
	if got := files(t, filepath.Join(dir, "locks")); got != "deploy%3Aeu%2Fwest-1" {
		t.Errorf("locks/ holds %s", got)
	}
	all, err := s.List(t.Context(), locker.ListQuery{})
	if err != nil || len(all) != 1 || all[0].Key != "deploy:eu/west-1" {
		t.Errorf("list: %+v, %v", all, err)
	}
}

func TestTokenIsNowhereOnDisk(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	g := acquire(t, s, "k", time.Minute)
	if _, err := s.Renew(t.Context(), "k", g.Token, 0); err != nil {
		t.Fatal(err)
	}
	release(t, s, g)
	g = acquire(t, s, "k", time.Minute)
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if strings.Contains(string(b), g.Token.Reveal()) {
			t.Errorf("%s holds the token", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestOneWhoRunsUnderTheKeyDoesNotWaitForItself(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	g := acquire(t, s, "k", time.Minute)
	inner, err := dirstore.Open(dirstore.Options{Dir: dir, Under: []dirstore.Under{{Key: "k", Fence: g.Fence}}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = inner.Acquire(t.Context(), "k", forever)
	var self *locker.SelfError
	if !errors.As(err, &self) || !errors.Is(err, locker.ErrBusy) {
		t.Fatalf("it would wait for itself: %v", err)
	}
	acquire(t, inner, "another", time.Minute)
	release(t, s, g)
	acquire(t, inner, "k", time.Minute) // the outer lease is over
}

func TestCancelledBeforeItBegan(t *testing.T) {
	s := open(t, t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Acquire(ctx, "k", forever); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if st := status(t, s, "k"); st.State != locker.Free || len(st.Waiters) != 0 {
		t.Errorf("left behind: %+v", st)
	}
}
