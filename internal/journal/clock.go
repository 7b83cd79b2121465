package journal

import (
	"time"

	"legible.sh/mutex/internal/journal/record"
)

// Reading is one look at both of the machine's clocks.
type Reading struct {
	Now time.Time // the wall clock, which people set
	// Up is the clock of the machine's boot, which nobody can set; it goes on while the machine sleeps.
	Up time.Duration
	// Boot tells one boot's Up from another's; "" where the machine cannot say.
	Boot string
}

// stepThreshold is how far the wall clock must be off the other one to count as set. What a time service corrects
// little by little adds up to one step in the end.
const stepThreshold = time.Second

// anchor ties the wall clock to the clock that nobody sets. What the journal stores are wall-clock times, so when the
// wall clock is set, all that is stored moves with it: leases keep the time they had left.
type anchor struct {
	at   time.Time // the wall clock when the other one showed up
	up   time.Duration
	boot string
}

func anchorAt(r Reading) anchor { return anchor{at: r.Now.Round(0), up: r.Up, boot: r.Boot} }

// present is the time of a reading on the wall clock as it was before it was set, and so on that of all that is stored.
func (a anchor) present(r Reading) instant { return instantOf(r.Now.Add(-a.step(r))) }

// record appends the anchor's line.
func (a anchor) record(b []byte) []byte { return record.AppendClock(b, a.at, a.boot, a.up) }

// step is how far the wall clock was set since the anchor; 0 when it was not, or nobody can tell.
func (a anchor) step(r Reading) time.Duration {
	if a.boot == "" || a.boot != r.Boot {
		return 0
	}
	step := r.Now.Round(0).Sub(a.at) - (r.Up - a.up)
	if step.Abs() < stepThreshold {
		return 0
	}
	return step
}
