package dirstore_test

import (
	"bufio"
	"bytes"
	"fmt"
	"slices"
	"testing"
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
