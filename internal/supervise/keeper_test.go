package supervise

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// bubbleNow is the clock inside a synctest bubble.
func bubbleNow() Instant { return Instant(time.Now().UnixNano()) }

// fakeLease answers as a test wants it.
type fakeLease struct {
	calls  atomic.Int64
	renew  func(context.Context) (Renewal, error)
	giveUp func(context.Context) error
}

func (l *fakeLease) Renew(ctx context.Context) (Renewal, error) {
	l.calls.Add(1)
	return l.renew(ctx)
}

func (l *fakeLease) Release(ctx context.Context) error {
	l.calls.Add(1)
	return l.giveUp(ctx)
}

var errDown = errors.New("down")

// keepIn starts a keeper of a lease of 60 seconds, acquired now.
func keepIn(t *testing.T, lease *fakeLease) *keeper {
	t.Helper()
	p := newPlan(Held{TTL: 60 * sec, Sent: bubbleNow()}, noJitter)
	return keep(t.Context(), lease, p, bubbleNow)
}

// next gives the keeper's next report and when it came, counted from since.
func next(k *keeper, since Instant) (report, time.Duration) {
	r := <-k.reports
	return r, bubbleNow().Sub(since)
}

func TestRenewalsComeEveryThirdOfTheTTL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := bubbleNow()
		k := keepIn(t, &fakeLease{renew: func(context.Context) (Renewal, error) { return Renewal{}, nil }})
		defer k.stop(sec)
		for n := 1; n <= 5; n++ {
			at := time.Duration(n) * 20 * sec
			r, came := next(k, begun)
			if r.kind != reportRenewed || came != at || r.terms.deadline != begun.Add(at+60*sec) {
				t.Errorf("%d: kind %v after %v, deadline %v", n, r.kind, came, r.terms.deadline.Sub(begun))
			}
		}
	})
}

func TestARefusalIsTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := bubbleNow()
		lease := &fakeLease{renew: func(context.Context) (Renewal, error) { return Renewal{}, ErrLost }}
		k := keepIn(t, lease)
		if r, came := next(k, begun); r.kind != reportRefused || came != 20*sec {
			t.Errorf("kind %v after %v", r.kind, came)
		}
		<-k.done
		if lease.calls.Load() != 1 {
			t.Errorf("%d calls", lease.calls.Load())
		}
	})
}

// TestFailuresUpToTheMargin: neither an error nor silence is a loss before the margin, and at it each is.
func TestFailuresUpToTheMargin(t *testing.T) {
	for name, renew := range map[string]func(context.Context) (Renewal, error){
		"errors":  func(context.Context) (Renewal, error) { return Renewal{}, errDown },
		"silence": func(ctx context.Context) (Renewal, error) { <-ctx.Done(); return Renewal{}, ctx.Err() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := bubbleNow()
				lease := &fakeLease{renew: renew}
				k := keepIn(t, lease)
				for {
					r, came := next(k, begun)
					if r.kind == reportUncertain {
						continue
					}
					if r.kind != reportOverdue || came != 54*sec {
						t.Errorf("kind %v after %v", r.kind, came)
					}
					break
				}
				<-k.done
				if calls := lease.calls.Load(); calls < 3 {
					t.Errorf("%d calls", calls)
				}
			})
		})
	}
}

// TestACallThatNeverReturnsHidesNoLoss: the implementation ignores its context, and the loss is known in time.
func TestACallThatNeverReturnsHidesNoLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := bubbleNow()
		forever := make(chan struct{})
		k := keepIn(t, &fakeLease{renew: func(context.Context) (Renewal, error) { <-forever; return Renewal{}, nil }})
		if r, came := next(k, begun); r.kind != reportOverdue || came != 54*sec {
			t.Errorf("kind %v after %v", r.kind, came)
		}
		asked := bubbleNow()
		k.stop(sec)
		if waited := bubbleNow().Sub(asked); waited != sec {
			t.Errorf("waited %v for it", waited)
		}
		close(forever)
		<-k.done
	})
}

func TestAnAnswerAtTheLastMomentCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := bubbleNow()
		first := true
		lease := &fakeLease{}
		lease.renew = func(ctx context.Context) (Renewal, error) {
			if first { // fails so late that the next try is the last
				first = false
				<-ctx.Done()
				time.Sleep(13 * sec)
				return Renewal{}, errDown
			}
			time.Sleep(begun.Add(54*sec).Sub(bubbleNow()) - 1) // a nanosecond before it counts as lost
			return Renewal{}, nil
		}
		k := keepIn(t, lease)
		defer k.stop(sec)
		if r, _ := next(k, begun); r.kind != reportUncertain {
			t.Errorf("kind %v", r.kind)
		}
		r, came := next(k, begun)
		if r.kind != reportRenewed || came != 54*sec-1 || r.terms.deadline != begun.Add(45*sec+60*sec) {
			t.Errorf("kind %v after %v, deadline %v", r.kind, came, r.terms.deadline.Sub(begun))
		}
	})
}

// TestAConfirmationOfLongAgoIsNone: this process was stopped between the answer and its reading.
func TestAConfirmationOfLongAgoIsNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var slept atomic.Int64 // time that passes on the lease's clock and not on Go's timers
		clock := func() Instant { return bubbleNow().Add(time.Duration(slept.Load())) }
		lease := &fakeLease{renew: func(context.Context) (Renewal, error) {
			slept.Store(int64(time.Hour))
			return Renewal{}, nil
		}}
		k := keep(t.Context(), lease, newPlan(Held{TTL: 60 * sec, Sent: clock()}, noJitter), clock)
		if r := <-k.reports; r.kind != reportOverdue {
			t.Errorf("kind %v", r.kind)
		}
		<-k.done
	})
}

// TestSleepOfTheMachineIsNoticed: Go's timers stand still meanwhile, the lease does not.
func TestSleepOfTheMachineIsNoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var slept atomic.Int64
		clock := func() Instant { return bubbleNow().Add(time.Duration(slept.Load())) }
		lease := &fakeLease{renew: func(context.Context) (Renewal, error) { return Renewal{}, nil }}
		k := keep(t.Context(), lease, newPlan(Held{TTL: time.Hour, Sent: clock()}, noJitter), clock)
		time.Sleep(5500 * time.Millisecond)
		slept.Store(int64(time.Hour))
		woken := bubbleNow()
		r := <-k.reports
		if r.kind != reportOverdue || bubbleNow().Sub(woken) > tick {
			t.Errorf("kind %v after %v", r.kind, bubbleNow().Sub(woken))
		}
		<-k.done
		if lease.calls.Load() != 0 {
			t.Error("somebody was asked first")
		}
	})
}

func TestStopWaitsForTheCallThatIsOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var returned atomic.Bool
		k := keepIn(t, &fakeLease{renew: func(ctx context.Context) (Renewal, error) {
			<-ctx.Done()
			time.Sleep(100 * time.Millisecond)
			returned.Store(true)
			return Renewal{}, ErrLost
		}})
		time.Sleep(20*sec + 1)
		k.stop(sec)
		if !returned.Load() {
			t.Error("did not wait")
		}
		select {
		case r := <-k.reports:
			t.Errorf("an answer after the stop was reported: %v", r.kind)
		default:
		}
	})
}

// TestStopWaitsForACallThatOutlivedTheLoss: a lease that is lost may yet be released, and not beside a renewal.
func TestStopWaitsForACallThatOutlivedTheLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := bubbleNow()
		var returned atomic.Bool
		k := keepIn(t, &fakeLease{renew: func(context.Context) (Renewal, error) {
			time.Sleep(begun.Add(54*sec + 300*time.Millisecond).Sub(bubbleNow()))
			returned.Store(true)
			return Renewal{}, nil
		}})
		if r, came := next(k, begun); r.kind != reportOverdue || came != 54*sec || returned.Load() {
			t.Errorf("kind %v after %v", r.kind, came)
		}
		if k.stop(sec); !returned.Load() {
			t.Error("did not wait")
		}
	})
}

func TestRelease(t *testing.T) {
	fail := func(n int, then error) func(context.Context) error {
		return func(context.Context) error {
			if n--; n >= 0 {
				return errDown
			}
			return then
		}
	}
	for _, c := range []struct {
		name   string
		giveUp func(context.Context) error
		left   time.Duration // of the lease
		err    error
		calls  int64
		took   time.Duration // at most
	}{
		{"at once", fail(0, nil), time.Minute, nil, 1, 0},
		{"gone at once", fail(0, ErrLost), time.Minute, ErrLost, 1, 0},
		{"after two failures", fail(2, nil), time.Minute, nil, 3, sec},
		{"gone after one that failed", fail(1, ErrLost), time.Minute, ErrLost, 2, sec},
		{"never, for the grace", fail(1000, nil), time.Minute, errDown, 15, 10 * sec},
		{"never, for the lease's rest", fail(1000, nil), 2 * sec, errDown, 7, 2 * sec},
		{"the lease is over", fail(1000, nil), -sec, errDown, 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := bubbleNow()
				lease := &fakeLease{giveUp: c.giveUp}
				err := release(t.Context(), lease, begun.Add(c.left), 10*sec, bubbleNow)
				if !errors.Is(err, c.err) || lease.calls.Load() != c.calls {
					t.Errorf("%v after %d calls", err, lease.calls.Load())
				}
				if took := bubbleNow().Sub(begun); took > c.took {
					t.Errorf("took %v", took)
				}
			})
		})
	}
}

func TestAReleaseThatHangsIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := bubbleNow()
		first := true
		lease := &fakeLease{giveUp: func(ctx context.Context) error {
			if first {
				first = false
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		}}
		err := release(t.Context(), lease, begun.Add(time.Minute), 10*sec, bubbleNow)
		if err != nil || lease.calls.Load() != 2 || bubbleNow().Sub(begun) > 3*sec {
			t.Errorf("%v after %d calls and %v", err, lease.calls.Load(), bubbleNow().Sub(begun))
		}
	})
}

// TestTheLastReleaseComesJustBeforeTheEnd: a server that is back for the last moment of the lease, or the grace, hears
// of the release, however long the pauses have become.
func TestTheLastReleaseComesJustBeforeTheEnd(t *testing.T) {
	for _, left := range []time.Duration{300 * time.Millisecond, sec, 3 * sec, 9 * sec, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			begun := bubbleNow()
			end := begun.Add(min(left, 10*sec))
			lease := &fakeLease{giveUp: func(context.Context) error {
				if now := bubbleNow(); now < end.Add(-minRetry) || now >= end {
					return errDown
				}
				return nil
			}}
			if err := release(t.Context(), lease, begun.Add(left), 10*sec, bubbleNow); err != nil {
				t.Errorf("%v left: %v", left, err)
			}
		})
	}
}

// TestTheLastReleaseHasAllTheTimeThatIsLeft: on a machine under load an answer may take longer than an attempt has while
// there is time for others.
func TestTheLastReleaseHasAllTheTimeThatIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := bubbleNow()
		end := begun.Add(950 * time.Millisecond)
		lease := &fakeLease{giveUp: func(ctx context.Context) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(min(end.Sub(bubbleNow())-1, 280*time.Millisecond)):
				return nil
			}
		}}
		if err := release(t.Context(), lease, end, 10*sec, bubbleNow); err != nil || lease.calls.Load() != 3 {
			t.Errorf("%v after %d calls", err, lease.calls.Load())
		}
	})
}
