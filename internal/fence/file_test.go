package fence_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"legible.sh/mutex/internal/fence"
)

func open(t *testing.T, path string) *fence.File {
	t.Helper()
	f, err := fence.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// admit opens, asks and closes, as one command does.
func admit(t *testing.T, path string, n int64) error {
	t.Helper()
	f := open(t, path)
	defer f.Close()
	return f.Admit(n)
}

func TestALowerFenceIsRefusedForGood(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.fence")
	for _, step := range []struct {
		n     int64
		stale bool
	}{{41, false}, {41, false}, {43, false}, {42, true}, {41, true}, {43, false}, {44, false}, {fence.Max, false}, {44, true}} {
		err := admit(t, path, step.n)
		if step.stale != errors.Is(err, fence.ErrStale) || !step.stale && err != nil {
			t.Fatalf("fence %d: %v", step.n, err)
		}
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "9007199254740991\n" {
		t.Errorf("%q %v", b, err)
	}
}

func TestADirectoryIsNoFence(t *testing.T) {
	if _, err := fence.Open(t.Context(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("%v", err)
	}
}

func TestARefusalSaysWhoseItIsNow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.fence")
	if err := admit(t, path, 42); err != nil {
		t.Fatal(err)
	}
	var stale *fence.StaleError
	if err := admit(t, path, 41); !errors.As(err, &stale) || stale.Fence != 41 || stale.Highest != 42 {
		t.Errorf("%v", err)
	}
}

// TestOneAtATime has many go through one file at once, each for as long as it has it open.
func TestOneAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.fence")
	var inside, admitted int
	var mu sync.Mutex
	var all sync.WaitGroup
	for n := int64(1); n <= 20; n++ {
		all.Go(func() {
			f, err := fence.Open(t.Context(), path)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			if inside++; inside != 1 {
				t.Error("two have it open")
			}
			before := f.Highest()
			mu.Unlock()
			err = f.Admit(n)
			if (err == nil) != (n >= before) {
				t.Errorf("fence %d after %d: %v", n, before, err)
			}
			mu.Lock()
			if inside--; err == nil {
				admitted++
			}
			mu.Unlock()
			f.Close()
		})
	}
	all.Wait()
	if n, err := fence.Read(path); n != 20 || err != nil || admitted == 0 {
		t.Errorf("%d %v, %d admitted", n, err, admitted)
	}
}

func TestAWaitEndsWithItsContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.fence")
	f := open(t, path)
	defer f.Close()
	ctx, cancel := context.WithTimeoutCause(t.Context(), 20*time.Millisecond, errors.New("enough"))
	defer cancel()
	if _, err := fence.Open(ctx, path); err == nil || !strings.Contains(err.Error(), "enough") {
		t.Errorf("%v", err)
	}
}

func TestALinkIsTheSameFence(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "state.fence"), filepath.Join(dir, "link")
	if err := admit(t, path, 7); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	f := open(t, path)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := fence.Open(ctx, link); err == nil {
		t.Error("two names, two locks")
	}
	f.Close()
	if err := admit(t, link, 8); err != nil {
		t.Fatal(err)
	}
	if n, _ := fence.Read(path); n != 8 {
		t.Errorf("the target has %d", n)
	}
	if info, _ := os.Lstat(link); info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link was replaced")
	}
}

func TestWhatIsNoFenceAdmitsNobody(t *testing.T) {
	for _, text := range []string{"", "x\n", "-1\n", "0\n", "9007199254740992\n", "4 2\n", strings.Repeat("1", 100)} {
		path := filepath.Join(t.TempDir(), "state.fence")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := fence.Open(t.Context(), path); err == nil || !strings.Contains(err.Error(), "no fence") {
			t.Errorf("%.10q: %v", text, err)
		}
		if b, _ := os.ReadFile(path); string(b) != text {
			t.Errorf("%.10q was changed to %q", text, b)
		}
	}
}

// TestWhatCannotBeKeptIsNotAdmitted has the new file's name taken by what cannot be replaced.
func TestWhatCannotBeKeptIsNotAdmitted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.fence")
	if err := admit(t, path, 1); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(path+".new", "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := admit(t, path, 2); err == nil || errors.Is(err, fence.ErrStale) {
		t.Errorf("%v", err)
	}
	if n, err := fence.Read(path); n != 1 || err != nil {
		t.Errorf("%d %v", n, err)
	}
}

func TestTheFilesModeStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.fence")
	if err := os.WriteFile(path, []byte("1\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := admit(t, path, 2); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v %v", info.Mode(), err)
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]int64{"1": 1, " 42\n": 42, "9007199254740991": fence.Max} {
		if n, err := fence.Parse(text); n != want || err != nil {
			t.Errorf("%q: %d %v", text, n, err)
		}
	}
	for _, text := range []string{"", "0", "-1", "1.0", "0x1", "1,2", "9007199254740992"} {
		if n, err := fence.Parse(text); err == nil {
			t.Errorf("%q: %d", text, n)
		}
	}
}
