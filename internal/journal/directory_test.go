package journal_test

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"legible.sh/mutex/internal/journal"
	"legible.sh/mutex/internal/journal/disk"
	"legible.sh/mutex/internal/lease"
)

func realOptions() journal.Options {
	return journal.Options{Keep: keep, Log: slog.New(slog.DiscardHandler)}
}

// Everything is for its owner alone, and a second server is refused with the pid of the first.
func TestDirectory(t *testing.T) {
	data := filepath.Join(t.TempDir(), "deep", "data")
	f, _, err := journal.Open(data, realOptions())
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Append("x", []lease.Event{{Kind: lease.Declared, Capacity: 1, Fence: 3}}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{"": 0o700, "mutex.jsonl": 0o600, "mutex.lock": 0o600} {
		info, err := os.Stat(filepath.Join(data, name))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%q: %v, %v, want %v", name, info.Mode(), err, want)
		}
	}
	_, _, err = journal.Open(data, realOptions())
	var locked *disk.LockedError
	if !errors.As(err, &locked) || locked.PID != os.Getpid() || !strings.Contains(err.Error(), data) {
		t.Errorf("a second server: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	f, boot, err := journal.Open(data, realOptions())
	if err != nil || len(boot.Topics) != 1 {
		t.Fatalf("after the first has ended: %v, %v", boot, err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	entries, _ := os.ReadDir(data)
	if len(entries) != 2 {
		t.Errorf("left in the directory: %v", entries)
	}
}

// A lock file that somebody removed lets no second server in.
func TestLockFileRemoved(t *testing.T) {
	data := t.TempDir()
	f, _, err := journal.Open(data, realOptions())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(data, "mutex.lock")); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the first attempt leaves a lock file of its own
		var locked *disk.LockedError
		if _, _, err := journal.Open(data, realOptions()); !errors.As(err, &locked) {
			t.Fatalf("a second server: %v", err)
		}
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	f, _, err = journal.Open(data, realOptions())
	if err != nil {
		t.Fatalf("after the first has ended: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

// A directory that cannot be one is an error that names it, before anything is served.
func TestNotADirectory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, data := range []string{file, filepath.Join(file, "data")} {
		if _, _, err := journal.Open(data, realOptions()); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("open %s: %v", data, err)
		}
	}
}

// A start that cannot do one of its calls says which, changes nothing, and holds nothing: the next one finds it all. So it
// is with a directory that cannot be written.
func TestStartFails(t *testing.T) {
	for _, op := range []disk.Op{
		disk.MakeDir, disk.LockDir, disk.BootOpen, disk.BootRead, disk.NewLook, disk.NewCreate, disk.NewWrite, disk.NewSync,
		disk.NewRename, disk.NewSyncDir,
	} {
		t.Run(string(op), func(t *testing.T) {
			w := newWorld(t)
			w.open()
			p := w.topic("x")
			p.acquire(1)
			before := p.describe()
			w.kill()
			w.disk.Fail = func(called disk.Op, _ string) error {
				if called == op {
					return fs.ErrPermission
				}
				return nil
			}
			if err := w.tryOpen(); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), dir) && !strings.Contains(err.Error(), string(op)) {
				t.Fatalf("open: %v", err)
			}
			w.disk.Fail = nil
			w.open()
			if got := w.topic("x").describe(); got != before {
				t.Errorf("found %s, want %s", got, before)
			}
			w.close()
		})
	}
}
