package dirstore_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"legible.sh/mutex/internal/locker"
)

// BenchmarkHandoff measures, with 16 processes that contend for one key, the time from a release's beginning to the
// moment at which the next one has the key.
func BenchmarkHandoff(b *testing.B) {
	const processes, each = 16, 25
	for b.Loop() {
		dir := b.TempDir()
		var outs [processes]bytes.Buffer
		var wait []func() error
		for i := range outs {
			cmd := play("handoff", dir, fmt.Sprint(each))
			cmd.Stdout = &outs[i]
			if err := cmd.Start(); err != nil {
				b.Fatal(err)
			}
			wait = append(wait, cmd.Wait)
		}
		for _, w := range wait {
			if err := w(); err != nil {
				b.Fatal(err)
			}
		}
		gaps := gaps(b, outs[:])
		at := func(q float64) float64 { return float64(gaps[int(q*float64(len(gaps)-1))]) / 1e6 }
		b.ReportMetric(at(0.5), "p50-ms")
		b.ReportMetric(at(0.99), "p99-ms")
		b.ReportMetric(at(1), "max-ms")
	}
}

// TestNothingIsLost has 16 processes add to one file, 50 times each, by reading it, pausing and writing it.
func TestNothingIsLost(t *testing.T) {
	const processes = 16
	each := rounds()
	dir := t.TempDir()
	var all []*actor
	for range processes {
		all = append(all, start(t, "increment", dir, fmt.Sprint(each)))
	}
	for _, a := range all {
		if err := a.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	if got := number(t, filepath.Join(dir, "count")); got != processes*each {
		t.Errorf("%d of %d", got, processes*each)
	}
}

// TestNothingIsLostButTheKilledOnesStep does the same while processes are killed at random, in the queue and while
// they hold the key. Each says on its own what it has added for sure; the file may have one more for each who was
// killed between the writing and the saying. What the dead held ends by its ttl.
func TestNothingIsLostButTheKilledOnesStep(t *testing.T) {
	const processes, kills = 16, 8
	each := rounds()
	dir := t.TempDir()
	var all [processes]*exec.Cmd
	var said [processes]bytes.Buffer
	for i := range all {
		all[i] = play("increment", dir, fmt.Sprint(each))
		all[i].Stdout = &said[i]
		if err := all[i].Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = all[i].Process.Kill() }()
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range kills { // half of those who race
		mark := (i+1)*each/2 + random.IntN(each/4)
		eventually(t, "more work is done", func() bool { return number(t, filepath.Join(dir, "count")) >= mark })
		if err := all[i].Process.Kill(); err != nil {
			t.Fatal(err)
		}
	}
	sure := 0
	for i := range all {
		if err := all[i].Wait(); err != nil && i >= kills {
			t.Fatalf("a process that nobody killed failed: %v", err)
		}
		sure += bytes.Count(said[i].Bytes(), []byte("\n"))
	}
	got := number(t, filepath.Join(dir, "count"))
	if got < sure || got > sure+kills {
		t.Errorf("the file has %d; %d are sure, %d were killed", got, sure, kills)
	}
	if st := status(t, open(t, dir), "counter"); st.Waiting != 0 || st.State == locker.Corrupt || st.State == locker.Unreadable {
		t.Errorf("left behind: %+v", st)
	}
}

// rounds is how often each process of a race adds one.
func rounds() int {
	if testing.Short() {
		return 12
	}
	return 50
}

// number reads a file with a number in it; 0 if it is not there yet.
func number(t testing.TB, path string) (n int) {
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	_, _ = fmt.Sscan(string(b), &n)
	return n
}

// gaps gives the times between a holder's end and the next one's beginning, sorted.
func gaps(tb testing.TB, outs []bytes.Buffer) []int64 {
	tb.Helper()
	type span struct{ from, to int64 }
	var spans []span
	for i := range outs {
		for lines := bufio.NewScanner(&outs[i]); lines.Scan(); {
			var s span
			if _, err := fmt.Sscan(lines.Text(), &s.from, &s.to); err != nil {
				tb.Fatal(err)
			}
			spans = append(spans, s)
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return int(a.from - b.from) })
	var gaps []int64
	for i := 1; i < len(spans); i++ {
		gap := spans[i].from - spans[i-1].to
		if gap < 0 {
			tb.Fatal("two held the key at once")
		}
		gaps = append(gaps, gap)
	}
	slices.Sort(gaps)
	return gaps
}
