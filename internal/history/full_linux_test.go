package history_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"legible.sh/mutex/internal/history"
	"legible.sh/mutex/internal/lease"
)

// mount gives a file system of that many bytes.
func mount(t testing.TB, size string) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root, to mount a tmpfs")
	}
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Fatalf("mounting a tmpfs: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func TestAFullDiskIsWaitedOut(t *testing.T) {
	dir := mount(t, "2m")
	o, log := fragile(filepath.Join(dir, "history.db"))
	s := open(t, o)
	flush(t, s)
	ballast := filepath.Join(dir, "ballast")
	fillUp(t, ballast)
	n := 0
	eventually(t, "the disk is full", func() bool {
		s.Observe("t", []lease.Event{granted(n)})
		n++
		return s.Stats().Failing
	})
	if _, err := s.Query(t.Context(), history.Query{}); err != nil {
		t.Errorf("reading a full disk: %v", err)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	eventually(t, "everything is written", func() bool { st := s.Stats(); return !st.Failing && st.Written == uint64(n) })
	if log.count("cannot write") != 1 || s.Stats().Dropped != 0 {
		t.Errorf("logged %d times, stats %+v", log.count("cannot write"), s.Stats())
	}
}

func fillUp(t testing.TB, file string) {
	t.Helper()
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for chunk := make([]byte, 4096); err == nil; {
		_, err = f.Write(chunk)
	}
}

func TestAReadOnlyFileSystemIsWaitedOut(t *testing.T) {
	dir := mount(t, "4m")
	o, _ := fragile(filepath.Join(dir, "history.db"))
	o.Busy = time.Second
	s := history.Open(o)
	s.Observe("t", []lease.Event{granted(1)})
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	remount(t, dir, syscall.MS_RDONLY)
	s = open(t, o)
	s.Observe("t", []lease.Event{granted(2)})
	eventually(t, "the failure shows", func() bool { return s.Stats().Failing })
	remount(t, dir, 0)
	eventually(t, "it is written", func() bool { return s.Stats().Written == 1 })
	if got := query(t, s, history.Query{}); len(got) != 2 {
		t.Errorf("got %+v", got)
	}
}

func remount(t testing.TB, dir string, flags uintptr) {
	t.Helper()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|flags, ""); err != nil {
		t.Fatal(err)
	}
}
