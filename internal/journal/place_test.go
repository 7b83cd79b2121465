package journal_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"legible.sh/mutex/internal/journal"
	"legible.sh/mutex/internal/journal/disk"
	"legible.sh/mutex/internal/lease"
)

// mischief is what somebody may do to the file of a running server.
var mischief = map[string]func(name string) error{
	"removed": os.Remove,
	"replaced": func(name string) error {
		return errors.Join(os.WriteFile(name+".swp", []byte("{}\n"), 0o600), os.Rename(name+".swp", name))
	},
	"cut by a blank line": func(name string) error {
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		return os.Truncate(name, info.Size()-1)
	},
	"emptied": func(name string) error { return os.Truncate(name, 0) },
	"appended to": func(name string) error {
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return err
		}
		_, err = f.WriteString("note to myself\n")
		return errors.Join(err, f.Close())
	},
}

// Whatever becomes of the file, nothing is answered that a server which starts now would not find.
func TestFileLostUnderAServer(t *testing.T) {
	for what, do := range mischief {
		t.Run(what, func(t *testing.T) {
			w := newWorld(t)
			data := t.TempDir()
			w.real(data)
			p := w.topic("x")
			for n := range 20 {
				if err := do(filepath.Join(data, "mutex.jsonl")); err != nil {
					t.Fatal(err)
				}
				_, err := p.do(acquire(n))
				for errors.Is(err, journal.ErrStorage) || errors.Is(err, lease.ErrSuspended) {
					_, err = p.do(acquire(n)) // of unknown outcome, as a lost answer
				}
				if err != nil {
					t.Fatal(err)
				}
				if got := heldBy(t, data, w.options); got != p.describe() {
					t.Fatalf("on disk: %s, answered: %s", got, p.describe())
				}
				p.must(lease.Command{Op: lease.Release, Token: token(n)})
			}
			w.close()
		})
	}
}

// heldBy is what a server that starts on a copy of the directory knows of topic x.
func heldBy(t *testing.T, data string, options journal.Options) string {
	t.Helper()
	image, err := os.ReadFile(filepath.Join(data, "mutex.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "mutex.jsonl"), image, 0o600); err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, clock: newClock(), options: options}
	w.real(other)
	defer w.close()
	return w.topic("x").describe()
}

// A server that has nothing to commit notices as well, and so does one that is about to end.
func TestFileLostWhileNothingIsCommitted(t *testing.T) {
	for what, do := range mischief {
		t.Run(what, func(t *testing.T) {
			w := newWorld(t)
			data := t.TempDir()
			name := filepath.Join(data, "mutex.jsonl")
			w.real(data)
			p := w.topic("x")
			p.acquire(1)
			if err := do(name); err != nil {
				t.Fatal(err)
			}
			eventually(t, "there is a new file", func() bool {
				image, err := os.ReadFile(name)
				return err == nil && strings.Contains(string(image), "holder-1") && !strings.Contains(string(image), "myself") &&
					w.file.Healthy() == nil
			})
			if got := heldBy(t, data, w.options); got != p.describe() {
				t.Errorf("on disk: %s, answered: %s", got, p.describe())
			}
			if err := do(name); err != nil {
				t.Fatal(err)
			}
			_ = w.file.Close()
			if got := heldBy(t, data, w.options); got != p.describe() {
				t.Errorf("after the end: %s, answered: %s", got, p.describe())
			}
		})
	}
}

// gone moves a server's directory away, and waits until that is known.
func gone(t *testing.T, w *world, data string) {
	t.Helper()
	if err := os.Rename(data, data+".away"); err != nil {
		t.Fatal(err)
	}
	_, err := w.topic("y").do(acquire(7))
	wantStorage(t, err)
	if w.file.Healthy() == nil || !w.file.Suspended() {
		t.Error("healthy without its directory")
	}
}

// Without its directory a server refuses everything, and goes on when it is back.
func TestDirectoryMovedAway(t *testing.T) {
	w := newWorld(t)
	data := filepath.Join(t.TempDir(), "data")
	w.real(data)
	p := w.topic("x")
	p.acquire(1)
	gone(t, w, data)
	if err := os.Rename(data+".away", data); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it comes back", func() bool { return w.file.Healthy() == nil })
	if got := heldBy(t, data, w.options); got != p.describe() {
		t.Errorf("on disk: %s, answered: %s", got, p.describe())
	}
	w.close()
}

// In an empty directory of the same name a server goes on with all it knows, and no other is let in.
func TestDirectoryMadeAnew(t *testing.T) {
	w := newWorld(t)
	data := filepath.Join(t.TempDir(), "data")
	w.real(data)
	p := w.topic("x")
	p.acquire(1)
	gone(t, w, data)
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it comes back", func() bool { return w.file.Healthy() == nil })
	if got := heldBy(t, data, w.options); got != p.describe() {
		t.Errorf("on disk: %s, answered: %s", got, p.describe())
	}
	var locked *disk.LockedError
	if _, _, err := journal.Open(data, realOptions()); !errors.As(err, &locked) {
		t.Errorf("a second server: %v", err)
	}
	w.close()
	w.real(data)
	w.close()
}

// A directory with a journal of its own is left as it is: it may be a copy that somebody put there to go back to, or
// another server's.
func TestDirectoryOfAnother(t *testing.T) {
	w := newWorld(t)
	data := filepath.Join(t.TempDir(), "data")
	w.real(data)
	w.topic("x").acquire(1)
	other := newWorld(t)
	other.real(data + ".other")
	other.topic("theirs").acquire(2)
	before, err := os.ReadFile(filepath.Join(data+".other", "mutex.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	gone(t, w, data)
	if err := os.Rename(data+".other", data); err != nil {
		t.Fatal(err)
	}
	says := func(text string) func() bool {
		return func() bool { err := w.file.Healthy(); return err != nil && strings.Contains(err.Error(), text) }
	}
	eventually(t, "it says that another server is there", says("in use by another server"))
	_ = other.file.Close() // its directory is elsewhere as well
	eventually(t, "it says that another journal is there", says("a journal of its own"))
	after, err := os.ReadFile(filepath.Join(data, "mutex.jsonl"))
	if err != nil || string(after) != string(before) {
		t.Errorf("the other's file was\n%s\nand is (%v)\n%s", before, err, after)
	}
	if err := errors.Join(os.Rename(data, data+".other"), os.Rename(data+".away", data)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it comes back", func() bool { return w.file.Healthy() == nil })
	w.close()
}

// Where files have no identity a server does without looking, and says so.
func TestFilesWithoutIdentity(t *testing.T) {
	w := newWorld(t)
	w.disk.NoIdentity = true
	w.open()
	p := w.topic("x")
	for n := range 10 {
		p.acquire(n)
		p.must(lease.Command{Op: lease.Release, Token: token(n)})
	}
	if err := w.file.Healthy(); err != nil {
		t.Error(err)
	}
	if !strings.Contains(w.log.String(), "does not tell") {
		t.Errorf("said: %s", w.log)
	}
	w.close()
}

// A disk that takes each new file and then no record is not filled with one new file after the other.
func TestNewFilesThatFailAsWell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var broken atomic.Bool
		var made atomic.Int64
		w.disk.Fail = func(op disk.Op, _ string) error {
			switch {
			case op == disk.NewCreate:
				made.Add(1)
			case op == disk.AppendWrite && broken.Load():
				return errPower
			}
			return nil
		}
		w.open()
		p := w.topic("x")
		p.acquire(1)
		broken.Store(true)
		made.Store(0)
		began := time.Now()
		for range 100 {
			_, err := p.do(lease.Command{Op: lease.Renew, Token: token(1)})
			wantStorage(t, err)
		}
		if took := time.Since(began); took < 8*time.Second || made.Load() > took.Milliseconds()/500 {
			t.Errorf("%d new files for 100 refusals in %s", made.Load(), took)
		}
		broken.Store(false)
		time.Sleep(5 * time.Second) // the longest there is between two attempts
		p.must(lease.Command{Op: lease.Renew, Token: token(1)})
		w.close()
	})
}
