package main

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"
)

// bare is what [BenchmarkRunTrue] compares with: two HTTP calls of the kind that a run makes, by this same binary, and
// starting true. A program that did less could not hold a lease.
func bare(url string) int {
	for _, method := range []string{http.MethodPost, http.MethodDelete} {
		r, err := http.NewRequest(method, url+"/bare", nil)
		if err != nil {
			return 1
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			return 1
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close()
	}
	if err := exec.Command("true").Run(); err != nil {
		return 1
	}
	return 0
}

// BenchmarkRunTrue starts `mutex run t -- true` and the bare program in turns, and gives the medians of both and
// their ratio:
//
//	go test ./cmd/mutex -run '^$' -bench RunTrue -benchtime 300x
func BenchmarkRunTrue(b *testing.B) {
	s := startServer(b)
	var runs, bares []time.Duration
	measure := func(into *[]time.Duration, vars []string, args ...string) {
		cmd := exec.Command(os.Args[0], args...)
		cmd.Env = environ(b, append(vars, s.vars()...))
		start := time.Now()
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
		*into = append(*into, time.Since(start))
	}
	for b.Loop() {
		measure(&runs, nil, "run", "t", "--", "true")
		measure(&bares, []string{"TEST_AS_BARE=" + s.url})
	}
	run, floor := median(runs), median(bares)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(run.Microseconds()), "run-µs")
	b.ReportMetric(float64(floor.Microseconds()), "bare-µs")
	b.ReportMetric(float64(run)/float64(floor), "ratio")
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}
