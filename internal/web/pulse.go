package web

import (
	"time"

	"legible.sh/mutex/api"
)

// pulse says whether a holder is alive, as far as a server can tell: by its renewals.
type pulse string

// The pulses. A client renews every third of its ttl, so that two thirds without a renewal mean that one was missed.
const (
	fresh  pulse = "fresh"  // granted a short while ago, not renewed yet
	alive  pulse = "alive"  // renewed in time
	stuck  pulse = "stuck"  // renewed in time, but held for much longer than is usual here: perhaps wedged
	silent pulse = "silent" // two thirds of its ttl have passed without a renewal
)

// A hold is much longer than usual when it is so many times as long, and at least so long.
const (
	unusual = 3
	atLeast = time.Minute
)

// holderView is one who holds, and what can be told of its life.
type holderView struct {
	api.Holder
	Now     time.Time
	Usual   time.Duration // how long leases live here as a rule; 0: not known
	Pulse   pulse
	Changes time.Time // when the pulse is another one unless something happens; zero: not before its end
}

// look tells a holder's pulse.
func look(h api.Holder, now time.Time, usual time.Duration) holderView {
	v := holderView{Holder: h, Now: now, Usual: usual, Pulse: fresh}
	if h.Renewed != nil {
		v.Pulse = alive
	}
	missed := v.Last().Add(v.life() * 2 / 3)
	if !now.Before(missed) {
		v.Pulse = silent
		return v
	}
	v.Changes = missed
	if usual <= 0 {
		return v
	}
	long := h.Since.Add(max(usual*unusual, atLeast))
	switch {
	case !now.Before(long):
		v.Pulse = stuck
	case long.Before(missed):
		v.Changes = long
	}
	return v
}

// Last is its last sign of life.
func (v holderView) Last() api.Time {
	if v.Renewed != nil {
		return *v.Renewed
	}
	return v.Since
}

// life is how long its lease lives from its last sign of life: its ttl.
func (v holderView) life() time.Duration { return v.Expires.Sub(v.Last().Time) }

// Word is the pulse in a word or two.
func (v holderView) Word() string {
	switch v.Pulse {
	case fresh:
		return "not renewed yet"
	case stuck:
		return "longer than usual"
	case silent:
		return "silent"
	}
	return "alive"
}

// Left is what is left of its life, in thousandths.
func (v holderView) Left() int {
	life := v.life()
	if life <= 0 {
		return 0
	}
	return int(min(max(v.Expires.Sub(v.Now)*1000/life, 0), 1000))
}

// Place says where it runs, as far as it said so.
func (v holderView) Place() string { return place(v.Host, v.PID) }
