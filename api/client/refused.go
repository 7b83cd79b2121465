package client

import (
	"errors"
	"time"

	"legible.sh/mutex/api"
)

// refused takes one answer that is no grant, plans what follows, and gives the error that ends the whole, if this
// does.
func (a *acquisition) refused(r answer) error {
	if r.key != a.key {
		return nil // of a key that is spent
	}
	a.kept = a.kept || unclear(r.err)
	var no *Error
	if errors.As(r.err, &no) {
		switch no.Code {
		case api.ErrorCodeBusy:
			return a.busy(r, no)
		case api.ErrorCodeTimeout:
			return a.timedOut(r, no)
		case api.ErrorCodeSuperseded:
			a.kept = true
			a.again(a.pause.next())
			return nil
		case api.ErrorCodeKeySpent:
			return a.startOver(r)
		case api.ErrorCodeBadParam:
			if a.shorten(no) {
				return nil
			}
		}
	}
	if !transient(r.err) {
		return r.err
	}
	return a.noAnswer(r)
}

// busy answers a request that did not wait.
func (a *acquisition) busy(r answer, no *Error) error {
	if !r.probe {
		if a.wait != 0 { // what was left of the wait was too short to queue for
			no.Code = api.ErrorCodeTimeout
		}
		return no
	}
	a.answered(no)
	a.lookAgain()
	return nil
}

func (a *acquisition) timedOut(r answer, no *Error) error {
	a.kept = true
	if r.last {
		return no
	}
	a.answered(no)
	a.again(0)
	return nil
}

// startOver goes on with a new key: the old one had its lease, whose grant was lost on the way until it ended.
func (a *acquisition) startOver(r answer) error {
	if a.c.now() >= a.retries {
		return r.err
	}
	a.key, a.first, a.kept = newKey(), 0, false
	a.next.Reset(a.pause.next())
	return nil
}

// shorten asks for a shorter slice where the server does not let anybody wait for so long at once.
func (a *acquisition) shorten(no *Error) bool {
	if a.slice <= time.Second || len(no.Parameters) != 1 || no.Parameters[0].Name != "wait" {
		return false
	}
	a.slice /= 2
	a.next.Reset(0)
	return true
}

// noAnswer repeats what got no clear answer, for as long as it may.
func (a *acquisition) noAnswer(r answer) error {
	if r.probe || a.out > 0 { // a request that waits is still out, and will tell
		a.lookAgain()
		return nil
	}
	first := a.troubled == 0
	if first {
		a.troubled = r.sent
	}
	end := a.retries
	if brief(r.err) {
		end = min(end, a.troubled.add(floor))
	}
	left := end.sub(a.c.now())
	if first {
		p := Progress{Trouble: r.err}
		if end != never {
			p.Patience = max(left, 0)
		}
		a.tell(p)
	}
	if left <= 0 {
		return r.err
	}
	a.again(min(a.pause.pauseAfter(r.err), left))
	return nil
}

// again plans the next request that waits, unless one is out already and its successor planned.
func (a *acquisition) again(pause time.Duration) {
	if a.out == 0 {
		a.next.Reset(pause)
	}
}

// answered notes that the server answers.
func (a *acquisition) answered(no *Error) {
	a.pause.reset()
	a.troubled = 0
	a.tell(Progress{Holders: no.Holders, Position: no.Position, Waiting: no.Waiting, RetryAfter: no.RetryAfter})
}

func (a *acquisition) tell(p Progress) {
	if a.progress != nil {
		a.progress(p)
	}
}

func (a *acquisition) lookAgain() {
	if a.progress != nil && a.progressEvery > 0 {
		a.look.Reset(a.progressEvery)
	}
}
