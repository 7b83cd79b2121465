package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"legible.sh/mutex/internal/journal"
	"legible.sh/mutex/internal/journal/disk"
	"legible.sh/mutex/internal/lease"
)

// written gives a file of n grants on topics of their own, and where its lines begin.
func written(t *testing.T, n int) (w *world, image []byte, lines []int) {
	w = newWorld(t)
	w.open()
	for i := range n {
		w.topic(lease.Topic(fmt.Sprint("t", i))).acquire(i)
	}
	w.kill()
	image = w.records()
	for at := 0; at < len(image); at += bytes.IndexByte(image[at:], '\n') + 1 {
		lines = append(lines, at)
	}
	return w, image, lines
}

// A file torn at any byte of its last two records opens with all that is whole; what is appended then is whole too.
func TestTornAtEveryByte(t *testing.T) {
	w, image, lines := written(t, 5)
	third, fourth := lines[len(lines)-2], lines[len(lines)-1]
	for cut := third; cut <= len(image); cut++ {
		whole := 3
		if cut >= fourth-1 { // a record is whole without its newline
			whole++
		}
		if cut >= len(image)-1 {
			whole++
		}
		w.disk.WriteFile(path, image[:cut])
		w.log.Reset()
		w.open()
		if got := len(w.boot.Topics); got != whole {
			t.Fatalf("cut at %d: %d topics, want %d", cut, got, whole)
		}
		torn := cut > third && cut < fourth-1 || cut > fourth && cut < len(image)-1
		if said := strings.Contains(w.log.String(), "never acknowledged"); said != torn {
			t.Fatalf("cut at %d: warned: %v, torn: %v\n%s", cut, said, torn, w.log)
		}
		w.topic("new").acquire(99)
		w.restart()
		if got := len(w.boot.Topics); got != whole+1 {
			t.Fatalf("cut at %d: %d topics after an append and a restart, want %d", cut, got, whole+1)
		}
		w.kill()
	}
}

// The warning says how much was dropped.
func TestTornWarningCounts(t *testing.T) {
	w, image, _ := written(t, 2)
	half := `{"t":"grant","topic":"half","lea`
	w.disk.WriteFile(path, append(image, half...))
	w.open()
	if want := fmt.Sprintf("bytes=%d", len(half)); !strings.Contains(w.log.String(), want) {
		t.Errorf("no %s in %s", want, w.log)
	}
	w.close()
}

// padded makes a line of so many bytes of a record, its newline included.
func padded(text string, size int) string {
	return text[:1] + strings.Repeat(" ", size-1-len(text)) + text[1:] + "\n"
}

// Which damage is a torn write that nobody was promised, and which is damage to promises.
func TestWhatIsTorn(t *testing.T) {
	const topic = `{"t":"topic","topic":"a","capacity":1,"fence":1}`
	const markedTopic = `{"synced":true,"t":"topic","topic":"b","capacity":1,"fence":1}`
	const good, marked = topic + "\n", markedTopic + "\n"
	const hole = "\x00\x00\x00ic\",\"capacity\":1}\n"
	const junk = "{\"t\":\"topic\",oops\n"
	whole, wholeMarked := padded(topic, 512), padded(markedTopic, 512) // sectors
	long := padded(`{"x":"`+strings.Repeat("x", 1400)+`",`+topic[1:], 1536)
	blank := strings.Repeat("\n", 512)
	flipped := strings.Replace(whole, "topic", "top\x01c", 1)
	for _, c := range []struct {
		name, file string
		line       int // of the damage; 0: torn
	}{
		{"an unfinished last line", good + `{"t":"to`, 0},
		{"holes at the end", good + "{\"t\":\"\x00\x00\x00", 0},
		{"a hole in the last write, and more of that write", marked + hole + good, 0},
		{"two holes in the last write", marked + hole + good + hole, 0},
		{"a hole in the last write, whose end is missing", marked + hole + good + `{"t":`, 0},
		{"a hole, and then a write that came after a sync", marked + hole + marked, 2},
		{"a hole in a file that knows no marks, and more", good + hole + good, 2},
		{"a hole as the last line of a file that knows no marks", good + hole, 0},
		{"junk in the middle", good + junk + good, 2},
		{"junk as the last line", good + junk, 2},
		{"junk as the last line before the blank ones", good + junk + blank, 2},
		{"junk, and then an unfinished line", good + junk + `{"t":"to`, 2},
		{"an unfinished line behind blank ones", good + blank + `{"t":"to`, 0},
		{"a record that lacks a field", good + `{"t":"grant","topic":"a"}` + "\n" + good, 2},
		{"a line longer than any record", good + `{"x":"` + strings.Repeat("x", 300<<10) + "\"}\n" + good, 2},
		{"two records in one line", good + strings.TrimSpace(good) + good, 2},

		{"a lost tail", wholeMarked + long[:512] + blank + blank, 0},
		{"a lost tail at the end of the file", wholeMarked + long[:512] + "\n", 0},
		{"a lost tail, and more of that write", wholeMarked + long[:1024] + blank + whole, 0},
		{"a lost tail, and a hole behind it", wholeMarked + long[:512] + "\n\x00\x00" + blank, 0},
		{"a lost tail, and more in a file that knows no marks", whole + long[:512] + blank + whole, 2},
		{"a lost tail, and then a write that came after a sync", wholeMarked + long[:512] + blank + wholeMarked, 2},
		{"cut short elsewhere than where a sector begins", wholeMarked + long[:511] + blank, 2},
		{"cut short where a sector begins, which was not lost", wholeMarked + long[:512] + "\n" + good + blank, 2},
		{"a whole record gone bad that ends where a sector begins", wholeMarked + "{" + flipped[:511] + "\n" + blank, 2},
		{"a whole record gone bad that begins where a sector does", wholeMarked + flipped + blank, 2},
		{"a lost head", wholeMarked + blank + long[512:] + blank, 0},
		{"a lost head in the sector of the last record", marked + blank[len(marked):] + long[512:] + blank, 0},
		{"a lost head, and more of that write", wholeMarked + blank + long[512:] + whole, 0},
		{"a lost head, and then a write that came after a sync", wholeMarked + blank + long[512:] + wholeMarked, 514},
		{"a lost head, but no sector begins there", wholeMarked + blank + "\n" + long[512:], 515},
		{"both ends lost", wholeMarked + blank + long[512:1024] + blank, 0},
		{"whole lines lost before others of that write", wholeMarked + blank + whole + whole, 0},
		{"whole lines lost but for the last newline", wholeMarked + blank + "\n" + whole + whole, 0},
		{"whole lines lost, and spaces of a text kept", wholeMarked + blank + strings.Repeat(" ", 512) + blank + whole, 0},
		{"whole lines lost before a write that came after a sync", wholeMarked + blank + whole + wholeMarked, 514},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.disk.WriteFile(path, []byte(c.file))
			report, err := journal.Check(dir, w.withDisk())
			if torn := c.line == 0; err != nil || (report.Torn > 0) != torn || (len(report.Damage) > 0) == torn {
				t.Errorf("check: %+v, %v", report, err)
			}
			err = w.tryOpen()
			var damaged *journal.DamagedError
			switch {
			case c.line == 0 && err == nil:
				if report.Topics != len(w.boot.Topics) {
					t.Errorf("the check counts %d topics, the start finds %v", report.Topics, w.boot.Topics)
				}
				w.close()
			case c.line > 0 && errors.As(err, &damaged):
				if !strings.Contains(err.Error(), fmt.Sprintf("line %d:", c.line)) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "mutex journal repair /data") {
					t.Errorf("the error does not say where and what to do: %v", err)
				}
				if got := w.disk.ReadFile(path); string(got) != c.file {
					t.Error("the file was changed")
				}
			default:
				t.Errorf("open: %v", err)
			}
		})
	}
}

func (w *world) withDisk() journal.Options {
	o := w.options
	o.Disk = w.disk
	return o
}

// Blank lines, an empty file and records of a later version are no damage.
func TestHarmless(t *testing.T) {
	w := newWorld(t)
	w.disk.WriteFile(path, []byte("\n\r\n"+`{"t":"hologram","topic":{"x":[1,"}"]},"at":"noon"}`+"\n  \n"+
		`{"t":"topic","topic":"a","capacity":1,"fence":3,"colour":["r",{"g":1}],"synced":null}`))
	w.open()
	if got := w.topic("a").acquire(1); got.Fence != 4 {
		t.Errorf("fence %d, want 4", got.Fence)
	}
	w.close()
	w.disk.WriteFile(path, nil)
	w.open()
	w.close()
}

// A repair keeps a backup, drops only what cannot be read, and raises the fences beyond anything the lost lines can have
// said. It leaves a file alone that needs no repair.
func TestRepair(t *testing.T) {
	w := newWorld(t)
	w.open()
	a, b := w.topic("a"), w.topic("b")
	for n := range 20 {
		a.acquire(n)
		a.must(lease.Command{Op: lease.Release, Token: token(n)})
	}
	b.acquire(100)
	w.kill()
	if _, err := journal.Repair(dir, w.withDisk()); err != journal.ErrNoDamage {
		t.Fatalf("repair of a good file: %v", err)
	}
	image := w.records()
	lines := bytes.SplitAfter(image, []byte("\n"))
	broken := len(lines) - 4 // topic a's last grant; its release and b's grant follow
	if !bytes.Contains(lines[broken], []byte(`"fence":20`)) {
		t.Fatalf("not the line that was meant: %s", lines[broken])
	}
	lines[broken][10] = 'X'
	lines[broken][11] = '\x01'
	damaged := bytes.Join(lines, nil)
	w.disk.WriteFile(path, damaged)
	if err := w.tryOpen(); err == nil {
		t.Fatal("opened a damaged file")
	}
	report, err := journal.Repair(dir, w.withDisk())
	if err != nil || len(report.Damage) != 1 || report.Damage[0].Line != broken+1 {
		t.Fatalf("repair: %+v, %v", report, err)
	}
	if got := w.disk.ReadFile(report.Backup); !bytes.Equal(got, damaged) {
		t.Errorf("the backup %s has %d bytes, the damaged file had %d", report.Backup, len(got), len(damaged))
	}
	w.open()
	if got := w.topic("a").acquire(200).Fence; got <= 20 || got != report.RaisedTo+1 || got > 2<<20 {
		t.Errorf("fence %d after a repair that raised to %d", got, report.RaisedTo)
	}
	if _, err := w.topic("b").do(lease.Command{Op: lease.Check, Token: token(100)}); err != nil {
		t.Errorf("what could be read is gone: %v", err)
	}
	if w.boot.Floor < report.RaisedTo {
		t.Errorf("floor %d, raised to %d", w.boot.Floor, report.RaisedTo)
	}
	if _, err := journal.Repair(dir, w.withDisk()); !errors.As(err, new(*disk.LockedError)) {
		t.Errorf("repair under a running server: %v", err)
	}
	w.close()
}

// A repaired file whose lost line was the end of a lease does not let two hold one slot.
func TestRepairedEndIsUnderstood(t *testing.T) {
	w := newWorld(t)
	w.open()
	p := w.topic("a")
	p.acquire(1)
	p.must(lease.Command{Op: lease.Release, Token: token(1)})
	p.acquire(2)
	w.kill()
	var kept [][]byte
	for line := range bytes.Lines(w.disk.ReadFile(path)) {
		if !bytes.Contains(line, []byte(`"release"`)) {
			kept = append(kept, line)
		}
	}
	w.disk.WriteFile(path, bytes.Join(kept, nil))
	w.open()
	if names := w.topic("a").state.HolderNames(); len(names) != 1 || names[0] != "holder-2" {
		t.Errorf("holders: %v", names)
	}
	w.close()
}

// A key stands in one place only, whatever a file says: a lease before a place in the queue, that before being spent.
func TestOneKeyOnePlace(t *testing.T) {
	const k = `"key":"6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b"`
	const grant = `{"t":"grant","topic":"a","lease":"11111111111111111111111111111111","name":"n","fence":1,"since":1800000000000,"expires":1800000900000,` + k + "}\n"
	const wait = `{"t":"wait","topic":"a",` + k + `,"name":"n","ttl":1,"enqueued":1800000000000}` + "\n"
	const spent = `{"t":"spent","topic":"a",` + k + `,"at":1800000000000}` + "\n"
	for file, want := range map[string]lease.Kind{
		grant + wait + spent: lease.Granted,
		spent + wait + spent: lease.Enqueued,
		wait + wait:          lease.Enqueued,
		spent + spent:        lease.Spent,
	} {
		w := newWorld(t)
		w.disk.WriteFile(path, []byte(file))
		w.open()
		var kinds []lease.Kind
		for _, e := range w.file.Recall("a", w.clock.now()) {
			if !e.Key.IsZero() {
				kinds = append(kinds, e.Kind)
			}
		}
		if len(kinds) != 1 || kinds[0] != want {
			t.Errorf("the key is in %v, want %v, of\n%s", kinds, want, file)
		}
		w.close()
	}
}
