package journal_test

import (
	"testing"

	"legible.sh/mutex/internal/lease"
)

// A name whose topic was retired, and of which since then only a key was given up, does not start over after a restart.
func TestFenceAfterAKeyWasGivenUp(t *testing.T) {
	for _, end := range []string{"kill", "close"} {
		t.Run(end, func(t *testing.T) {
			w := newWorld(t)
			w.open()
			p := w.topic("x")
			for n := range 3 {
				p.acquire(n)
				p.must(lease.Command{Op: lease.Release, Token: token(n)})
			}
			w.file.Floor("x", p.state.Fence())
			p.state = lease.New(p.state.Fence(), keep)
			p.must(lease.Command{Op: lease.GiveUp, Key: lease.KeyOf("late")})
			for range 2 { // the second start reads what the first has made
				if end == "close" {
					w.close()
				} else {
					w.kill()
				}
				w.open()
				if got := w.topic("x").state.Fence(); got < 3 {
					t.Fatalf("the next fence is above %d, and 3 was granted", got)
				}
			}
			w.close()
		})
	}
}
