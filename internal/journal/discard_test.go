package journal_test

import (
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"legible.sh/mutex/internal/journal"
	"legible.sh/mutex/internal/journal/disk"
)

// movedBeforeLook is a disk on which a move happens when somebody looks for the second time whether the directory is there.
type movedBeforeLook struct {
	disk.FS
	looks atomic.Int64
	move  func()
}

func (m *movedBeforeLook) Lock(op disk.Op, name string) (disk.Lock, error) {
	lock, err := m.FS.Lock(op, name)
	return looked{lock, m}, err
}

type looked struct {
	disk.Lock
	m *movedBeforeLook
}

func (l looked) Covers(op disk.Op) error {
	if l.m.looks.Add(1) == 2 {
		l.m.move()
	}
	return l.Lock.Covers(op)
}

// A draft whose directory was moved away meanwhile is given up, and that of another server, whose directory is there now, stays.
func TestDraftOfAnother(t *testing.T) {
	w := newWorld(t)
	data := filepath.Join(t.TempDir(), "data")
	other := newWorld(t)
	other.real(data + ".other")
	if err := os.WriteFile(filepath.Join(data+".other", "mutex.jsonl.new"), []byte("theirs"), 0o600); err != nil {
		t.Fatal(err)
	}
	m := &movedBeforeLook{FS: disk.OS{}}
	m.looks.Store(2)
	m.move = func() {
		if err := errors.Join(os.Rename(data, data+".away"), os.Rename(data+".other", data)); err != nil {
			t.Error(err)
		}
	}
	w.options.Disk = m
	var err error
	if w.file, w.boot, err = journal.Open(data, w.options); err != nil {
		t.Fatal(err)
	}
	w.topic("x").acquire(1)
	if err := os.Remove(filepath.Join(data, "mutex.jsonl")); err != nil {
		t.Fatal(err)
	}
	m.looks.Store(0) // one comes before the new file, one before that gets its name
	_, _ = w.topic("x").do(acquire(2))
	eventually(t, "the draft is given up", func() bool { return m.looks.Load() > 3 }) // one more before the next one
	if text, err := os.ReadFile(filepath.Join(data, "mutex.jsonl.new")); err != nil || string(text) != "theirs" {
		t.Errorf("the other's draft: %q, %v", text, err)
	}
	_, _ = w.file.Close(), other.file.Close() // their directories are elsewhere
}
