package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"legible.sh/mutex/internal/journal"
	"legible.sh/mutex/internal/journal/disktest"
	"legible.sh/mutex/internal/journal/record"
	"legible.sh/mutex/internal/lease"
)

// Whatever a file holds: it opens or is refused, nothing panics or goes round for ever, no fence is lower than the file
// says, what is found can be run by the rules, and is found again the next time.
func FuzzReplay(f *testing.F) {
	for _, seed := range replaySeeds(f) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, image []byte) {
		if len(image) > 64<<10 {
			return // as true as for a short one, and slow
		}
		sameWithBlanks(t, image)
		w := newWorld(t)
		w.disk.WriteFile(path, image)
		err := w.tryOpen()
		if errors.As(err, new(*journal.DamagedError)) {
			repairAnything(t, w, image)
			return
		}
		if err != nil {
			t.Fatalf("%v\n%q", err, image)
		}
		fences, _ := fencesOf(image, true)
		w.atLeast(fences)
		first := w.all()
		w.restart()
		for name, before := range first {
			if got := w.topic(name).describe(); got != before {
				t.Fatalf("%s after a restart:\n%s\nbefore:\n%s\n%q", name, got, before, image)
			}
		}
		for name := range first {
			w.exhaust(name)
		}
		w.close()
	})
}

// sameWithBlanks checks that blank lines behind the last one that is finished change nothing.
func sameWithBlanks(t *testing.T, image []byte) {
	if len(image) > 0 && image[len(image)-1] != '\n' {
		return
	}
	plain, longer := disktest.New(), disktest.New()
	plain.WriteFile(path, image)
	longer.WriteFile(path, append(bytes.Clone(image), bytes.Repeat([]byte("\n"), 4095-len(image)%1024)...))
	want, err := found(t, plain)
	got, failed := found(t, longer)
	if got != want || fmt.Sprint(failed) != fmt.Sprint(err) {
		t.Fatalf("found %s, %v\nwith blank lines behind it %s, %v\n%q", want, err, got, failed, image)
	}
}

// repairAnything checks that a damaged file can be repaired, and then opens, without a fence that could repeat.
func repairAnything(t *testing.T, w *world, image []byte) {
	report, err := journal.Repair(dir, w.withDisk())
	if err != nil {
		t.Fatalf("repair: %v\n%q", err, image)
	}
	if !bytes.Equal(w.disk.ReadFile(report.Backup), image) {
		t.Fatal("the backup differs")
	}
	w.open()
	fences, highest := fencesOf(image, false)
	w.atLeast(fences)
	if w.boot.Floor < highest {
		t.Fatalf("floor %d after a repair, the highest fence was %d", w.boot.Floor, highest)
	}
	w.close()
}

// fencesOf reads what a file says about fences, line by line, up to the first damage or beyond it.
func fencesOf(image []byte, stop bool) (fences map[lease.Topic]lease.Fence, highest lease.Fence) {
	fences = map[lease.Topic]lease.Fence{}
	at, gap, marked := 0, false, false
	for line := range bytes.Lines(image) {
		begin := at
		at += len(line)
		if len(line) == 1 && line[0] == '\n' {
			gap = true
			continue
		}
		r, err := record.Parse(line)
		if err != nil {
			if stop && len(bytes.TrimSpace(line)) > 0 {
				break
			}
			continue
		}
		if stop && gap && begin%512 == 0 && marked && !r.Synced {
			break // what stood before it in its batch was lost
		}
		gap, marked = false, marked || r.Synced
		switch r.Type {
		case record.Grant, record.Topic, record.Floor:
			fences[r.Topic] = max(fences[r.Topic], r.Event.Fence)
			highest = max(highest, r.Event.Fence)
		}
	}
	return fences, highest
}

// atLeast checks that no topic starts below a fence.
func (w *world) atLeast(fences map[lease.Topic]lease.Fence) {
	for name, fence := range fences {
		if name == "" {
			if w.boot.Floor < fence {
				w.t.Fatalf("floor %d, the file says %d", w.boot.Floor, fence)
			}
			continue
		}
		if got := max(w.topic(name).state.Fence(), w.boot.Floor); got < fence {
			w.t.Fatalf("topic %s starts at fence %d, the file says %d", name, got, fence)
		}
	}
}

func (w *world) all() map[lease.Topic]string {
	all := map[lease.Topic]string{}
	for _, name := range w.boot.Topics {
		all[name] = w.topic(name).describe()
	}
	return all
}

// exhaust runs a topic until nothing is left in it.
func (w *world) exhaust(name lease.Topic) {
	p := w.topic(name)
	now := w.clock.now()
	for n := 0; !p.state.Idle(); n++ {
		if n > 100_000 {
			w.t.Fatalf("topic %s never comes to rest: %s", name, p.describe())
		}
		due, ok := p.state.NextDue()
		if !ok {
			w.t.Fatalf("topic %s waits for nothing: %s", name, p.describe())
		}
		if due.After(now) {
			now = due
		}
		p.state.Settle(now, nil)
	}
	if _, _, err := p.state.Step(&lease.Command{Op: lease.Acquire, Token: token(1), TTL: time.Second}, now, nil); err != nil &&
		!errors.Is(err, lease.ErrFenceExhausted) {
		w.t.Fatalf("topic %s grants nothing: %v", name, err)
	}
}

// replaySeeds are files as they may be.
func replaySeeds(t testing.TB) (seeds [][]byte) {
	first, err := os.ReadFile(filepath.Join("testdata", "first-generation", "mutex.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	w.open()
	l := newWorkload(w, 11)
	if err := l.run(80); err != nil {
		t.Fatal(err)
	}
	w.kill()
	image := w.records()
	blanks := bytes.Repeat([]byte("\n"), 1024-len(image)%512)
	torn := append(append(append(bytes.Clone(image), blanks...), image[300:700]...), blanks...)
	seeds = append(seeds, torn, append(bytes.Clone(image), blanks...), first, image, image[:len(image)-7], append(image[:300:300], 0, 0, 0, '\n'))
	const k = `"key":"6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b"`
	const g = `"t":"grant","topic":"a","lease":"11111111111111111111111111111111","name":"n","since":1800000000000,"expires":1800000900000`
	return append(seeds,
		[]byte(`{`+g+`,"fence":5}`+"\n"+`{`+g+`,"fence":5}`+"\n"+`{`+g+`,"fence":4,`+k+`}`),
		[]byte(`{"t":"wait","topic":"a",`+k+`,"name":"n","ttl":1,"enqueued":1}`+"\n"+`{"t":"spent","topic":"a",`+k+`,"at":1800000000000}`+"\n"+`{`+g+`,"fence":9,"capacity":2,`+k+`}`),
		[]byte(`{"t":"spent","topic":"a",`+k+`,"at":1900000000000}`+"\n"+`{"t":"wait","topic":"a",`+k+`,"name":"n","ttl":1,"enqueued":1}`),
		[]byte(`{`+g+`,"fence":9,"capacity":2,`+k+`}`+"\n"+`{"t":"wait","topic":"a",`+k+`,"name":"n","ttl":1,"enqueued":1}`),
		[]byte(`{"t":"clock","at":1,"boot":"one","up":1}`+"\n"+`{`+g+`,"fence":9007199254740991}`+"\n"+`{"t":"clock","at":4611686018427,"boot":"one","up":1}`),
		[]byte(`{"t":"raise","fence":12}`+"\n"+`{"t":"floor","topic":"a","fence":3}`+"\n"+`{"t":"floor","fence":1,"high":7}`),
	)
}
