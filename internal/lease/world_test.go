package lease_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"legible.sh/mutex/internal/lease"
)

// world runs the rules and the model side by side and says where they part.
type world struct {
	now     time.Time
	floor   lease.Fence
	state   *lease.State
	shadow  *lease.State // sees nothing but the events
	model   model
	journal records
	witness witness
	events  []lease.Event
	parked  map[lease.Token]bool // requests that wait for a verdict
	made    []lease.Token        // those last acquired with, the latest first
	serial  int
}

func newWorld(floor lease.Fence, keep time.Duration) *world {
	return &world{
		now: start, floor: floor, state: lease.New(floor, keep), shadow: lease.New(floor, keep), model: model{keep: keep, fence: floor},
		witness: newWitness(floor), parked: map[lease.Token]bool{},
	}
}

// do runs one command in both and compares all that can be seen.
func (w *world) do(c lease.Command) error {
	outcome, events, err := w.state.Step(&c, w.now, w.events[:0])
	w.events = events
	wantOutcome, wantErr := w.model.step(&c, w.now)
	w.journal.add(events)
	for i := range events {
		w.shadow.Apply(&events[i])
	}
	switch {
	case !sameError(err, wantErr):
		return fmt.Errorf("refused with %#v, the model with %#v", err, wantErr)
	case outcome != wantOutcome:
		return fmt.Errorf("came to %+v, in the model to %+v", outcome, wantOutcome)
	}
	if got := w.verdicts(); !maps.Equal(got, w.model.verdicts) {
		return fmt.Errorf("waits ended with %+v, in the model with %+v", got, w.model.verdicts)
	}
	for i := range events {
		if e := &events[i]; e.Cause == lease.TimedOut {
			got, want := w.state.TimeoutError(e), w.model.held(lease.ErrTimeout, e.Key, w.now)
			if !sameError(got, want) {
				return fmt.Errorf("timed out with %+v, in the model with %+v", got, want)
			}
		}
	}
	if outcome.Waiting {
		w.parked[c.Token] = true
	}
	if err := w.witness.see(events); err != nil {
		return err
	}
	return w.compare()
}

// verdicts reads from the events how waiting requests ended, as the owner of a topic does.
func (w *world) verdicts() map[lease.Token]verdict {
	got := map[lease.Token]verdict{}
	hows := map[lease.Cause]string{lease.TimedOut: "timed out", lease.Abandoned: "abandoned", lease.GaveUp: "gave up"}
	for i := range w.events {
		e := &w.events[i]
		token, v := e.Token, verdict{}
		switch e.Kind {
		case lease.Granted:
			v = verdict{how: "granted", lease: lease.Lease{
				Token: e.Token, Who: e.Who, Fence: e.Fence, Slot: e.Slot, Capacity: e.Capacity, TTL: e.TTL,
				Since: e.Since, Expires: e.Expires,
			}}
		case lease.Reattached:
			token, v.how = e.Superseded, "superseded"
		case lease.Left, lease.Detached:
			v.how = hows[e.Cause]
		}
		if v.how != "" && w.parked[token] {
			delete(w.parked, token)
			got[token] = v
		}
	}
	return got
}

// compare looks at the state from all sides.
func (w *world) compare() error {
	got, want := w.state.Status(), w.model.status()
	due, some := w.state.NextDue()
	wantDue, wantSome := w.model.nextDue()
	switch {
	case got.Capacity != want.Capacity || w.state.Capacity() != want.Capacity:
		return fmt.Errorf("capacity %d, in the model %d", got.Capacity, want.Capacity)
	case !slices.Equal(got.Holders, want.Holders) || w.state.Held() != len(want.Holders):
		return fmt.Errorf("holders %+v, in the model %+v", got.Holders, want.Holders)
	case !slices.Equal(got.Waiters, want.Waiters) || w.state.Waiting() != len(want.Waiters):
		return fmt.Errorf("waiters %+v, in the model %+v", got.Waiters, want.Waiters)
	case w.state.Fence() != w.model.fence:
		return fmt.Errorf("fence %d, in the model %d", w.state.Fence(), w.model.fence)
	case some != wantSome || !due.Equal(wantDue):
		return fmt.Errorf("next due %v, in the model %v", due, wantDue)
	case w.state.Idle() != w.model.idle():
		return fmt.Errorf("idle is %v, in the model %v", w.state.Idle(), w.model.idle())
	case len(got.Holders) > max(got.Capacity, 1):
		return fmt.Errorf("%d holders, capacity %d", len(got.Holders), got.Capacity)
	}
	return w.state.CheckInvariants()
}

// restart replaces the state by what its journal restores, and settles what is due by then. Before it does, it asks
// whether the events alone made the same of a state that was never given a command.
func (w *world) restart() error {
	if got, want := snapshotOf(w.shadow), snapshotOf(w.state); got != want {
		return fmt.Errorf("the events made %s, the commands %s", got, want)
	}
	w.state = w.journal.replay(w.floor, w.model.keep, w.now)
	w.shadow = w.journal.replay(w.floor, w.model.keep, w.now)
	w.model.restart(w.now)
	w.parked = map[lease.Token]bool{}
	w.witness.restart()
	return w.do(lease.Command{Op: lease.Look})
}

func (w *world) suspend(on bool) {
	w.state.Suspend(on)
	w.model.suspended = on
}

// snapshotOf is all that can be seen of a state.
func snapshotOf(s *lease.State) string {
	due, ok := s.NextDue()
	return fmt.Sprintf("%+v fence=%d due=%v,%v idle=%v", s.Status(), s.Fence(), due, ok, s.Idle())
}

func sameError(a, b error) bool {
	var heldA, heldB *lease.HeldError
	var conflictA, conflictB *lease.ConflictError
	switch {
	case errors.As(a, &heldA) && errors.As(b, &heldB):
		return heldA.Kind == heldB.Kind && slices.Equal(heldA.Holders, heldB.Holders) &&
			heldA.Waiting == heldB.Waiting && heldA.RetryAfter == heldB.RetryAfter && heldA.Position == heldB.Position
	case errors.As(a, &conflictA) && errors.As(b, &conflictB):
		return conflictA.Capacity == conflictB.Capacity
	}
	return a == b
}
