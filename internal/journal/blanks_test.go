package journal_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"legible.sh/mutex/internal/journal"
	"legible.sh/mutex/internal/journal/disk"
	"legible.sh/mutex/internal/journal/disktest"
	"legible.sh/mutex/internal/lease"
)

// blanksAhead is how many blank lines stand behind the last record.
func (w *world) blanksAhead() int { return len(w.disk.ReadFile(path)) - len(w.records()) }

// use takes and releases one lease over and over.
func (w *world) use(times int) {
	w.t.Helper()
	p := w.topic("x")
	for n := range times {
		p.acquire(n)
		p.must(lease.Command{Op: lease.Release, Token: token(n)})
	}
}

// Records are written over blank lines that were laid before: between a half of a chunk and one and a half stand ready
// after each commit, within the room that is set aside, and the file grows a chunk at a time.
func TestBlanksStandAhead(t *testing.T) {
	w := newWorld(t)
	w.open()
	p := w.topic("x")
	sizes := map[int]bool{}
	for n := range 100 {
		p.acquire(n)
		eventually(t, "the commit is over", func() bool { return w.blanksAhead() >= int(w.options.Blanks)/2 })
		p.must(lease.Command{Op: lease.Release, Token: token(n)})
		if got := w.blanksAhead(); got > int(w.options.Blanks)*3/2 {
			t.Fatalf("%d blank lines", got)
		}
		size := len(w.disk.ReadFile(path))
		sizes[size] = true
		if s := w.file.Stats(); int64(size) > s.Size+s.Reserved {
			t.Fatalf("the file has %d bytes, and room for %d", size, s.Size+s.Reserved)
		}
	}
	if len(sizes) > 100*400/int(w.options.Blanks)+2 {
		t.Errorf("the file grew %d times", len(sizes))
	}
	w.close()
}

// However long the first commit is, half a chunk stands ready after it.
func TestBlanksStandAheadOfTheSecondCommit(t *testing.T) {
	for n := 1; n < 100; n++ {
		w := newWorld(t)
		w.open()
		if err := w.file.Append("many", declarations(n)); err != nil {
			t.Fatal(err)
		}
		eventually(t, fmt.Sprint("half a chunk stands ready behind ", n), func() bool {
			got := w.blanksAhead()
			return got >= int(w.options.Blanks)/2 && got <= int(w.options.Blanks)*3/2
		})
		w.kill()
	}
}

// After a kill the blank lines are there: a start says nothing of them, a check only how many they are, and all is known
// that was.
func TestBlanksAfterAKill(t *testing.T) {
	w := newWorld(t)
	w.open()
	w.use(5)
	w.topic("held").acquire(1)
	before := w.describeAll("x", "held")
	w.kill()
	blanks := w.blanksAhead()
	report, err := journal.Check(dir, w.withDisk())
	if err != nil || report.Torn > 0 || len(report.Damage) > 0 || blanks == 0 || report.Blank != int64(blanks) || report.Leases != 1 {
		t.Errorf("%d blank lines, the check says %+v, %v", blanks, report, err)
	}
	if _, err := journal.Repair(dir, w.withDisk()); err != journal.ErrNoDamage {
		t.Errorf("repair: %v", err)
	}
	w.log.Reset()
	w.open()
	if strings.Contains(w.log.String(), "WARN") {
		t.Errorf("said: %s", w.log)
	}
	if got := w.describeAll("x", "held"); got != before {
		t.Errorf("found %s, want %s", got, before)
	}
	w.close()
}

func (w *world) describeAll(names ...lease.Topic) string {
	var all []string
	for _, name := range names {
		all = append(all, w.topic(name).describe())
	}
	return strings.Join(all, "\n")
}

// A server that ends leaves no blank lines, and one that waits for no sync lays none, nor does one whose file system
// cannot promise room for them.
func TestNoBlanks(t *testing.T) {
	for name, set := range map[string]func(*world){
		"ended":       func(*world) {},
		"interval":    func(w *world) { w.options.Fsync = journal.Interval },
		"never":       func(w *world) { w.options.Fsync = journal.Never },
		"no allocate": func(w *world) { w.disk.NoAllocate = true },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			set(w)
			w.open()
			w.use(5)
			if got := w.blanksAhead(); name != "ended" && got > 0 {
				t.Errorf("%d blank lines", got)
			}
			w.close()
			if got := w.blanksAhead(); got > 0 {
				t.Errorf("%d blank lines after the end", got)
			}
		})
	}
}

// Laying blank lines takes no space but what was set aside, however far ahead they should stand.
func TestBlanksAreWithinTheRoom(t *testing.T) {
	w := newWorld(t)
	w.options.Blanks = 64 << 20
	w.options.CompactAt = 1 << 40
	w.open()
	used := w.disk.Used()
	w.use(1000)
	if got := w.disk.Used(); got != used {
		t.Errorf("%d bytes are taken, %d were", got, used)
	}
	if size, s := len(w.disk.ReadFile(path)), w.file.Stats(); w.blanksAhead() < 100_000 || int64(size) > s.Size+s.Reserved {
		t.Errorf("the file has %d bytes, and room for %d", size, s.Size+s.Reserved)
	}
	w.close()
}

// What a program of the first generation appends behind the blank lines of a killed server counts.
func TestAppendedBehindBlanks(t *testing.T) {
	w := newWorld(t)
	w.open()
	w.use(5)
	w.kill()
	for _, topic := range []string{"one", "two"} {
		w.tear(`{"t":"grant","topic":"` + topic + `","lease":"11111111111111111111111111111111","name":"n","fence":9,"since":1800000000000,"expires":1800000900000}` + "\n")
	}
	w.open()
	if len(w.boot.Topics) != 3 {
		t.Errorf("topics: %v", w.boot.Topics)
	}
	w.close()
}

// A check beside a running server may read a part of the file while blank lines stand there, and the next when there are
// records: that is no damage.
func TestCheckWhileBlanksAreWrittenOver(t *testing.T) {
	const window = 1 << 20
	line := `{"synced":true,"t":"topic","topic":"a","capacity":1,"fence":1}` + "\n"
	records := bytes.Repeat([]byte(line), 2*window/len(line))
	w := newWorld(t)
	w.disk.WriteFile(path, append(bytes.Clone(records[:len(line)*(window/len(line)-100)]), bytes.Repeat([]byte("\n"), window)...))
	reads := 0
	w.disk.Fail = func(op disk.Op, _ string) error {
		if op != disk.CheckRead {
			return nil
		}
		if reads++; reads == 2 {
			f, err := w.disk.Open("", path)
			if err != nil {
				return err
			}
			return f.WriteAt("", records, 0)
		}
		return nil
	}
	report, err := journal.Check(dir, w.withDisk())
	if err != nil || len(report.Damage) > 0 || report.Records != len(records)/len(line) {
		t.Errorf("%v, %d records, %d damaged lines", err, report.Records, len(report.Damage))
	}
}

// torn kills a server on a full disk in the middle of a write, of which a part is there; it gives what was acknowledged.
func torn(w *world, part int) (acknowledged []byte, held []*topic) {
	held = w.openFull()
	for w.blanksAhead() < 2048 {
		held[0].must(lease.Command{Op: lease.Renew, Token: token(0)})
	}
	w.disk.Limit(w.disk.Used())
	w.kill()
	acknowledged = w.records()
	batch := strings.Repeat(`{"t":"grant","topic":"torn","lease":"11111111111111111111111111111111","name":"n","fence":9,"since":1800000000000,"expires":1800000900000}`+"\n", 20)
	f, err := w.disk.Open("", path)
	if err == nil {
		err = f.WriteAt("", []byte(batch[:part-len(acknowledged)%512]), int64(len(acknowledged)))
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return acknowledged, held
}

// On a full disk a start goes on in the old file, right behind the last record, over what is left of a torn batch and the
// blank lines; a power cut meanwhile, whatever sectors it loses, leaves a file that starts, with all that was known.
func TestCarryOnOverBlanks(t *testing.T) {
	for _, part := range []int{512, 1024, 1536} {
		t.Run(fmt.Sprint(part), func(t *testing.T) {
			w := newWorld(t)
			acknowledged, held := torn(w, part)
			length := len(w.disk.ReadFile(path))
			var cuts []*disktest.Disk
			w.disk.Fail = func(op disk.Op, _ string) error {
				if op == disk.BootSync {
					for seed := range uint64(40) {
						keep := func(s int64) bool { return rand.New(rand.NewPCG(seed, uint64(s))).IntN(2) == 0 }
						cuts = append(cuts, w.disk.Cut(path, true, keep))
					}
				}
				return nil
			}
			w.open()
			w.disk.Fail = nil
			image := w.disk.ReadFile(path)
			if len(cuts) < 40 || len(image) != length || !bytes.HasPrefix(image, acknowledged) || bytes.Contains(w.records(), []byte("\n\n")) {
				t.Fatalf("%d cuts; of %d bytes, %d of them acknowledged, there are %d\n%q", len(cuts), length, len(acknowledged), len(image), image)
			}
			before := w.topic(held[0].name).describe()
			for _, cut := range cuts {
				other := newWorld(t)
				other.disk, other.clock = cut, w.clock
				other.open()
				if got := other.topic(held[0].name).describe(); got != before || len(other.boot.Topics) < len(held) {
					t.Errorf("found %s, want %s", got, before)
				}
				other.close()
			}
			for n := range held {
				held[n] = w.topic(held[n].name)
			}
			w.anHour(held)
			w.close()
		})
	}
}

// On a full disk a server that ends keeps its blank lines, as it keeps its room, and the next one writes over them.
func TestBlanksOfAServerThatEndedOnAFullDisk(t *testing.T) {
	w := newWorld(t)
	held := w.openFull()
	w.disk.Limit(w.disk.Used())
	w.close()
	length := len(w.disk.ReadFile(path))
	w.open()
	held[0] = w.topic(held[0].name)
	held[0].must(lease.Command{Op: lease.Renew, Token: token(0)})
	if got := len(w.disk.ReadFile(path)); w.blanksAhead() == 0 || got < length || bytes.Contains(w.records(), []byte("\n\n")) {
		t.Errorf("the file had %d bytes and has %d, %d of them blank lines", length, got, w.blanksAhead())
	}
	w.close()
}

// The last of a real file's records is where the next one goes, whatever stands behind it.
func TestRealFileEndsInItsLastRecord(t *testing.T) {
	data := t.TempDir()
	name := filepath.Join(data, "mutex.jsonl")
	w := newWorld(t)
	w.real(data)
	w.use(3)
	running, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	w.close()
	ended, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if trimmed := append(bytes.TrimRight(running, "\n"), '\n'); !bytes.Equal(ended, trimmed) || len(running) < 4<<10-1 {
		t.Errorf("%d bytes while it ran, %d of them not blank, and %d when it had ended", len(running), len(trimmed), len(ended))
	}
}
