package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"legible.sh/mutex/internal/journal"
	"legible.sh/mutex/internal/lease"
)

// compact gives a file that nothing was appended to yet, with topics t0, t1 and t2, each at fence 2, and holders of them.
func compact(t *testing.T) (w *world, image []byte) {
	w, _, _ = written(t, 3)
	w.open()
	for n := range 3 {
		p := w.topic(lease.Topic(fmt.Sprint("t", n)))
		p.must(lease.Command{Op: lease.Release, Token: token(n)})
		p.acquire(10 + n)
	}
	w.restart()
	w.kill()
	return w, w.records()
}

// All of a compact part was safe before the file got its name. So a file that ends within it is damaged, be it between two
// lines, or with NUL bytes or blank lines in the place of what is missing: it is refused, and no fence repeats after a repair.
func TestCutOffInTheCompactPart(t *testing.T) {
	w, image := compact(t)
	clocks := bytes.IndexByte(image, '\n')
	for _, filler := range []string{"", strings.Repeat("\x00", 700), strings.Repeat("\n", 700)} {
		for cut := clocks; cut < len(image)-1; cut++ { // without its newline the last line is still whole
			w.disk.WriteFile(path, append(image[:cut:cut], filler...))
			var damaged *journal.DamagedError
			if err := w.tryOpen(); !errors.As(err, &damaged) {
				t.Fatalf("cut at %d of %d, then %.1q: open: %v", cut, len(image), filler, err)
			}
			if report, err := journal.Repair(dir, w.withDisk()); err != nil || len(report.Damage) == 0 || report.Torn > 0 {
				t.Fatalf("cut at %d, then %.1q: repair: %+v, %v", cut, filler, report, err)
			}
			w.open()
			if w.boot.Floor <= 2 {
				t.Fatalf("cut at %d, then %.1q: new topics start at %d", cut, filler, w.boot.Floor)
			}
			for _, name := range w.boot.Topics {
				p := w.topic(name)
				for n := range 3 { // whose it is, if it was kept
					_, _ = p.do(lease.Command{Op: lease.Release, Token: token(10 + n)})
				}
				if got := p.acquire(20).Fence; got <= 2 {
					t.Fatalf("cut at %d, then %.1q: fence %d of %s is granted again", cut, filler, got, name)
				}
			}
			w.kill()
		}
	}
}

// Where not one record can be read, nothing says what was promised.
func TestNothingCanBeRead(t *testing.T) {
	for file, opens := range map[string]bool{
		`{"t":"topic","topic":"a","capa`: true, // the first record of the first generation, not finished
		"":                               true,
		"\n\n":                           true,
		"\x00":                           false,
		strings.Repeat("\x00", 5000):     false,
		`{"t":"topic","top` + "\x00\x00": false,
		"not a journal":                  false,
		"not a journal\n":                false,
	} {
		w := newWorld(t)
		w.disk.WriteFile(path, []byte(file))
		var damaged *journal.DamagedError
		err := w.tryOpen()
		if opens != (err == nil) || !opens && !errors.As(err, &damaged) {
			t.Errorf("%.20q: open: %v", file, err)
		}
		if err == nil {
			w.close()
			continue
		}
		if _, err := journal.Repair(dir, w.withDisk()); err != nil {
			t.Errorf("%.20q: repair: %v", file, err)
		}
		w.open()
		w.close()
	}
}
