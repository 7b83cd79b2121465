package main

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestBenchMeasuresAServerOfItsOwn(t *testing.T) {
	r := run(t, mutex(t, nil, "bench", "cycles", "--self", "--floor", "-d", "0.2", "--warmup", "0", "--rounds", "1", "-c", "2", "--json")).wants(t, 0, "round 1 of 1")
	if first, _, _ := strings.Cut(r.out, "\n"); !json.Valid([]byte(first)) || len(first) < 10 {
		t.Errorf("printed %q", r.out)
	}
}

// TestBenchLoadsNobodyUnasked: the default server is not ours to load.
func TestBenchLoadsNobodyUnasked(t *testing.T) {
	run(t, mutex(t, nil, "bench")).wants(t, 2, "--self")
	run(t, mutex(t, nil, "bench", "no-such", "--self")).wants(t, 2, "cycles")
}
