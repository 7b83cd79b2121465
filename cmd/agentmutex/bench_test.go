package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// binary builds agentmutex as it is shipped: this test's own binary starts more slowly.
func binary(b *testing.B) string {
	path := filepath.Join(b.TempDir(), "agentmutex")
	build := exec.Command("go", "build", "-trimpath", "-o", path, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	return path
}

// BenchmarkCommands measures whole commands, from their start to their end, on a key that nobody else wants.
func BenchmarkCommands(b *testing.B) {
	path, dir := binary(b), b.TempDir()
	for _, args := range [][]string{{"status", "k"}, {"run", "k", "--", "true"}} {
		b.Run(args[0], func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				cmd := exec.Command(path, args...)
				cmd.Env = append(os.Environ(), "AGENTMUTEX_DIR="+dir)
				start := time.Now()
				if err := cmd.Run(); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(start))
			}
			report(b, took)
		})
	}
}

// BenchmarkRunHandoff measures, with 16 commands that queue for one key time and again, the time from a command's
// last word to the next one's first: its end, the release, the grant and the next one's start.
func BenchmarkRunHandoff(b *testing.B) {
	const queue, rounds = 16, 10
	path := binary(b)
	var gaps []time.Duration
	for b.Loop() {
		dir := b.TempDir()
		log := filepath.Join(dir, "log")
		job := fmt.Sprintf(`for i in $(seq %d); do %s run -q k -- sh -c 'date +%%s%%N >> %s; date +%%s%%N >> %s'; done`, rounds, path, log, log)
		var all []*exec.Cmd
		for range queue {
			cmd := exec.Command("sh", "-c", job)
			cmd.Env = append(os.Environ(), "AGENTMUTEX_DIR="+dir)
			if err := cmd.Start(); err != nil {
				b.Fatal(err)
			}
			all = append(all, cmd)
		}
		for _, cmd := range all {
			if err := cmd.Wait(); err != nil {
				b.Fatal(err)
			}
		}
		gaps = append(gaps, between(b, log)...)
	}
	report(b, gaps)
}

// between reads the times of beginnings and ends, and gives those from each end to the next beginning. The last
// queue's length of them is left out: there are fewer than 16 who wait.
func between(b *testing.B, log string) (gaps []time.Duration) {
	text, err := os.ReadFile(log)
	if err != nil {
		b.Fatal(err)
	}
	var times []int64
	for _, word := range strings.Fields(string(text)) {
		var t int64
		if _, err := fmt.Sscan(word, &t); err != nil {
			b.Fatal(err)
		}
		times = append(times, t)
	}
	if !slices.IsSorted(times) {
		b.Fatal("two ran at once")
	}
	const tail = 16
	for i := 1; i+1 < len(times)-2*tail; i += 2 {
		gaps = append(gaps, time.Duration(times[i+1]-times[i]))
	}
	return gaps
}

func report(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	at := func(q float64) float64 { return took[int(q*float64(len(took)-1))].Seconds() * 1e3 }
	b.ReportMetric(at(0.5), "p50-ms")
	b.ReportMetric(at(0.99), "p99-ms")
}
