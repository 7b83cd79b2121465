package dirstore_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"legible.sh/mutex/internal/locker"
)

// breakages make holder.json unusable.
var breakages = map[string]struct {
	state locker.State
	do    func(t *testing.T, path string)
}{
	"empty":     {locker.Corrupt, func(t *testing.T, path string) { write(t, path, "") }},
	"torn":      {locker.Corrupt, func(t *testing.T, path string) { write(t, path, `{"agent": "tes`) }},
	"no object": {locker.Corrupt, func(t *testing.T, path string) { write(t, path, `[]`) }},
	"no fields": {locker.Corrupt, func(t *testing.T, path string) { write(t, path, `{}`) }},
	"bad fence": {locker.Corrupt, func(t *testing.T, path string) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		write(t, path, strings.Replace(string(b), `"fence": 1`, `"fence": -1`, 1))
	}},
	"directory": {locker.Unreadable, func(t *testing.T, path string) {
		if err := errors.Join(os.Remove(path), os.MkdirAll(filepath.Join(path, "in it"), 0o700)); err != nil {
			t.Fatal(err)
		}
	}},
	"link": {locker.Unreadable, func(t *testing.T, path string) {
		if err := errors.Join(os.Rename(path, path+".x"), os.Symlink(path+".x", path)); err != nil {
			t.Fatal(err)
		}
	}},
}

func TestBroken(t *testing.T) {
	for name, b := range breakages {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, dir)
			g := acquire(t, s, "k", time.Minute)
			path := filepath.Join(dir, "locks", "k", "holder.json")
			b.do(t, path)

			if st := status(t, s, "k"); st.State != b.state || st.Error == "" || len(st.Holders) != 0 {
				t.Fatalf("status: %+v", st)
			}
			if all, err := s.List(t.Context(), locker.ListQuery{}); err != nil || len(all) != 1 || all[0].State != b.state {
				t.Errorf("list: %+v, %v", all, err)
			}
			_, acquired := s.Acquire(t.Context(), "k", forever)
			_, renewed := s.Renew(t.Context(), "k", g.Token, 0)
			_, released := s.Release(t.Context(), "k", g.Token)
			_, checked := s.Check(t.Context(), "k", g.Token)
			_, waited := s.Wait(t.Context(), "k")
			for what, err := range map[string]error{
				"acquire": acquired, "renew": renewed, "release": released, "check": checked, "wait": waited,
			} {
				if !errors.Is(err, locker.ErrBroken) || errors.Is(err, locker.ErrGone) {
					t.Errorf("%s: %v", what, err)
				}
			}
			if p, err := s.Prune(t.Context()); err != nil || p.Pruned != 0 || p.Remaining != 1 {
				t.Errorf("prune: %+v, %v", p, err)
			}
			if f, err := s.ForceRelease(t.Context(), "k", locker.Force{DryRun: true}); err != nil || !f.Mended || !f.DryRun {
				t.Errorf("dry run: %+v, %v", f, err)
			}
			if st := status(t, s, "k"); st.State != b.state {
				t.Fatalf("it was touched, and is %s now", st.State)
			}
			if f, err := s.ForceRelease(t.Context(), "k", locker.Force{}); err != nil || !f.Mended {
				t.Fatalf("mending: %+v, %v", f, err)
			}
			if next := acquire(t, s, "k", time.Minute); next.Fence != g.Fence+1 {
				t.Errorf("fence %d after %d", next.Fence, g.Fence)
			}
		})
	}
}

func TestForceRelease(t *testing.T) {
	s := open(t, t.TempDir())
	g := acquire(t, s, "k", time.Minute)
	by := locker.Who{Name: "boss", PID: 7, Host: "box", Reason: "it hangs"}
	f, err := s.ForceRelease(t.Context(), "k", locker.Force{DryRun: true, By: by})
	if err != nil || len(f.Released) != 1 || f.Released[0].Name != "tester" {
		t.Fatalf("dry run: %+v, %v", f, err)
	}
	if f, err := s.ForceRelease(t.Context(), "k", locker.Force{Fence: g.Fence + 1, By: by}); err != nil || len(f.Released) != 0 {
		t.Fatalf("another fence: %+v, %v", f, err)
	}
	if _, err := s.Check(t.Context(), "k", g.Token); err != nil {
		t.Fatalf("it was released by that: %v", err)
	}
	if f, err := s.ForceRelease(t.Context(), "k", locker.Force{Fence: g.Fence, By: by}); err != nil || len(f.Released) != 1 {
		t.Fatalf("%+v, %v", f, err)
	}
	if _, err := s.Renew(t.Context(), "k", g.Token, 0); !errors.Is(err, locker.ErrNotHeld) {
		t.Errorf("renewal: %v", err)
	}
	if f, err := s.ForceRelease(t.Context(), "k", locker.Force{By: by}); err != nil || len(f.Released) != 0 {
		t.Errorf("again: %+v, %v", f, err)
	}
	wantHistory(t, s, "force-released tester by boss (pid 7 on box): it hangs", "acquired tester")
}

func TestReclaim(t *testing.T) {
	s := open(t, t.TempDir())
	other := open(t, s.Dir()) // another process, as far as the store can see
	g := acquire(t, s, "k", time.Minute)
	if _, err := s.Reclaim(t.Context(), "k", g.Token, forever); !errors.Is(err, locker.ErrGone) {
		t.Errorf("a lease that lives was taken back: %v", err)
	}
	if _, err := other.ForceRelease(t.Context(), "k", locker.Force{By: locker.Who{Name: "boss"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Reclaim(t.Context(), "k", g.Token, forever); !errors.Is(err, locker.ErrGone) {
		t.Errorf("one who never had it took it back: %v", err)
	}
	r := locker.Request{Who: locker.Who{Name: "tester"}, TTL: time.Minute}
	back, err := s.Reclaim(t.Context(), "k", g.Token, r)
	if err != nil || back.Fence != g.Fence+1 || back.Token == g.Token {
		t.Fatalf("%+v, %v", back, err)
	}
	wantHistory(t, s, "reclaimed tester", "force-released tester by boss", "acquired tester")

	if _, err := other.ForceRelease(t.Context(), "k", locker.Force{}); err != nil {
		t.Fatal(err)
	}
	release(t, other, acquire(t, other, "k", time.Minute))
	if _, err := s.Reclaim(t.Context(), "k", back.Token, r); !errors.Is(err, locker.ErrGone) {
		t.Errorf("taken back although another had it meanwhile: %v", err)
	}
}
