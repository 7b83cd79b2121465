package lease_test

import (
	"math/rand/v2"
	"testing"
)

// fromBytes makes a pick of a fuzzer's bytes; more tells whether some are left.
func fromBytes(data []byte) (p pick, more func() bool) {
	at := 0
	p = func(n int) int {
		if at >= len(data) {
			return 0
		}
		at++
		return int(data[at-1]) % n
	}
	return p, func() bool { return at < len(data) }
}

// addNoise seeds a fuzz target with the same random bytes each time, so that a plain test run covers it too.
func addNoise(f *testing.F, seeds, length int) {
	for seed := range seeds {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		data := make([]byte, length)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		f.Add(data)
	}
}

// FuzzCommands turns bytes into a history of commands and restarts, and holds it against the model.
func FuzzCommands(f *testing.F) {
	addNoise(f, 32, 2000)
	f.Fuzz(func(t *testing.T, data []byte) {
		p, more := fromBytes(data)
		w := randomWorld(p)
		for more() {
			if err := w.randomStep(p); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.restart(); err != nil {
			t.Fatal(err)
		}
	})
}
