package history_test

import (
	"os"
	"sync"
	"testing"

	"legible.sh/mutex/internal/history"
	"legible.sh/mutex/internal/lease"
)

// TestManyReadsMeetTheSameDamage: what the last of them tells is of the file that the first had set aside. The new one
// is sound, and would take the old one's place as what is left to look at.
func TestManyReadsMeetTheSameDamage(t *testing.T) {
	for range 5 {
		file := path(t)
		o, log := fragile(file)
		spoil(t, o, file)
		was, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}

		s := open(t, o)
		flush(t, s)
		read := func() error {
			_, err := s.Query(t.Context(), history.Query{Limit: 1000, Before: 1001})
			return err
		}
		var all sync.WaitGroup
		for range 16 {
			all.Go(func() {
				for range 20 {
					_ = read()
				}
			})
		}
		all.Wait()
		eventually(t, "reading works again", func() bool { return read() == nil })
		flush(t, s)
		if is, err := os.Stat(file + ".corrupt"); err != nil || !os.SameFile(is, was) {
			t.Errorf("what was set aside is not the damaged file (%v)", err)
		}
		if n := log.count("was set aside"); n != 1 {
			t.Errorf("%d files were set aside, want 1", n)
		}
	}
}

// spoil writes a file that opens well, and that only who reads what is old finds damaged.
func spoil(t *testing.T, o history.Options, file string) {
	t.Helper()
	s := history.Open(o)
	for n := range 3000 {
		s.Observe("t", []lease.Event{granted(n)})
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	overwriteLeaf(t, file, "events")
}
