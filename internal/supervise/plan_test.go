package supervise

import (
	"testing"
	"time"
)

const sec = time.Second

func noJitter() float64 { return 0 }

func planOf(ttl time.Duration) plan {
	return newPlan(Held{TTL: ttl, Sent: Instant(100 * sec)}, noJitter)
}

func TestTheMargin(t *testing.T) {
	for _, c := range []struct{ ttl, margin time.Duration }{
		{3600 * sec, 360 * sec},
		{60 * sec, 6 * sec},
		{2500 * time.Millisecond, 250 * time.Millisecond}, // a tenth and the least are the same
		{2499 * time.Millisecond, 250 * time.Millisecond},
		{sec, 250 * time.Millisecond},
		{500 * time.Millisecond, 250 * time.Millisecond},
		{100 * time.Millisecond, 50 * time.Millisecond}, // half of what is too short for it
	} {
		p := planOf(c.ttl)
		if early := p.deadline().Sub(p.killBy()); early != min(c.margin/2, 500*time.Millisecond) {
			t.Errorf("ttl %v: killed %v before the deadline", c.ttl, early)
		}
		if got := p.deadline().Sub(p.stopAt()); got != c.margin {
			t.Errorf("ttl %v: margin %v, want %v", c.ttl, got, c.margin)
		}
		if p.deadline() != Instant(100*sec).Add(c.ttl) {
			t.Errorf("ttl %v: deadline %v", c.ttl, p.deadline())
		}
	}
}

func TestBothEdgesOfTheLoss(t *testing.T) {
	p := planOf(60 * sec)
	edge := Instant(154 * sec)
	if p.lost(edge - 1) {
		t.Error("lost a nanosecond early")
	}
	if !p.lost(edge) {
		t.Error("not lost at the edge")
	}
}

func TestBothEdgesOfTheRenewal(t *testing.T) {
	p := planOf(60 * sec)
	edge := Instant(120 * sec)
	if p.due(edge - 1) {
		t.Error("due a nanosecond early")
	}
	if !p.due(edge) || p.wake() != edge {
		t.Errorf("not due at the edge; wake at %v", p.wake())
	}
}

func TestJitterOnlyBringsRenewalsForward(t *testing.T) {
	for _, j := range []float64{0, 0.5, 0.999999} {
		p := newPlan(Held{TTL: 60 * sec, Sent: 0}, func() float64 { return j })
		if at := time.Duration(p.next); at > 20*sec || at < 18*sec {
			t.Errorf("jitter %v: renewal after %v", j, at)
		}
	}
}

func TestAConfirmationCountsFromWhenItWasSent(t *testing.T) {
	p := planOf(60 * sec)
	p.unconfirmed(Instant(125 * sec))
	p.confirmed(Instant(130*sec), 0)
	if p.deadline() != Instant(190*sec) || p.next != Instant(150*sec) {
		t.Errorf("%+v", p)
	}
	p.confirmed(Instant(150*sec), 30*sec) // the service may grant another ttl
	if p.deadline() != Instant(180*sec) || p.stopAt() != Instant(177*sec) || p.next != Instant(160*sec) {
		t.Errorf("%+v", p)
	}
}

func TestTheNextTryAfterAFailure(t *testing.T) {
	for _, c := range []struct{ ttl, pause time.Duration }{
		{3600 * sec, 2 * sec},
		{60 * sec, 2 * sec},
		{20 * sec, sec},
		{500 * time.Millisecond, 50 * time.Millisecond},
	} {
		p := planOf(c.ttl)
		p.unconfirmed(Instant(100 * sec))
		if got := p.next.Sub(Instant(100 * sec)); got != c.pause {
			t.Errorf("ttl %v: next try after %v, want %v", c.ttl, got, c.pause)
		}
	}
}

func TestAnAttemptIsShortAndNeverPassesTheLoss(t *testing.T) {
	for _, c := range []struct{ ttl, after, timeout time.Duration }{
		{3600 * sec, 1200 * sec, 10 * sec},
		{30 * sec, 10 * sec, 5 * sec},
		{30 * sec, 26 * sec, sec},
		{sec, 333 * time.Millisecond, 250 * time.Millisecond},
		{sec, 700 * time.Millisecond, 50 * time.Millisecond},
	} {
		p := planOf(c.ttl)
		if got := p.timeout(Instant(100 * sec).Add(c.after)); got != c.timeout {
			t.Errorf("ttl %v after %v: %v, want %v", c.ttl, c.after, got, c.timeout)
		}
	}
}

func TestWhatIsConfirmedFirst(t *testing.T) {
	p := planOf(60 * sec)
	if p.stale(Instant(120*sec)-1) || !p.stale(Instant(120*sec)) {
		t.Error("the edge of what is stale")
	}
	p.confirmFirst(Instant(300 * sec))
	if !p.due(Instant(300*sec)) || p.lost(Instant(354*sec)-1) || !p.lost(Instant(354*sec)) {
		t.Errorf("%+v", p)
	}
}
