package lease_test

import (
	"flag"
	"testing"

	"pgregory.net/rapid"
)

var steps = flag.Int("steps", 200_000, "steps of random histories that the model test takes, at least")

// TestModel holds the rules against the naive model, over random histories: outcomes, refusals, verdicts, status
// and deadlines after each step, the promises against the events alone, and restarts in between.
func TestModel(t *testing.T) {
	if f := flag.Lookup("rapid.steps"); f.Value.String() == f.DefValue {
		if err := f.Value.Set("200"); err != nil { // long enough for queues, keep windows and restarts to meet
			t.Fatal(err)
		}
	}
	taken := 0
	for taken < *steps {
		rapid.Check(t, func(t *rapid.T) {
			number := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") }
			w := randomWorld(number)
			t.Repeat(map[string]func(*rapid.T){"step": func(t *rapid.T) {
				taken++
				if err := w.randomStep(number); err != nil {
					t.Fatal(err)
				}
			}})
			if err := w.restart(); err != nil {
				t.Fatal(err)
			}
		})
	}
	t.Logf("%d steps", taken)
}
