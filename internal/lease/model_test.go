package lease_test

import (
	"slices"
	"time"

	"legible.sh/mutex/internal/lease"
)

// model is a second implementation of the rules, as naive as can be: three slices, searched from the front.
// It was written from the contract and shares nothing with the first but the vocabulary.
type model struct {
	keep      time.Duration
	capacity  int
	fence     lease.Fence
	suspended bool
	holders   []modelHolder // in the order of their grants
	places    []modelPlace  // in the order they came
	spent     []modelSpent

	verdicts map[lease.Token]verdict // how the waits ended that ended in this step
}

// verdict is how a wait ended; granted has the lease.
type verdict struct {
	how   string
	lease lease.Lease
}

type modelHolder struct {
	lease.Lease
	key   lease.Key
	asked time.Duration
}

type modelPlace struct {
	token    lease.Token // zero: away
	key      lease.Key
	who      lease.Who
	first    lease.Who // who asked first, as far as a journal knows
	ttl      time.Duration
	enqueued time.Time
	deadline time.Time
}

type modelSpent struct {
	key   lease.Key
	until time.Time
}

// step is what lease.State.Step promises.
func (m *model) step(c *lease.Command, now time.Time) (lease.Outcome, error) {
	m.verdicts = map[lease.Token]verdict{}
	m.settle(now)
	outcome, err := m.run(c, now)
	if err == nil {
		m.settle(now)
	}
	return outcome, err
}

// settle: waits that are over, then leases, then grants.
func (m *model) settle(now time.Time) {
	for i := 0; i < len(m.places); {
		if m.places[i].deadline.After(now) {
			i++
		} else if m.waitIsOver(i, now) {
			i++
		}
	}
	for i := 0; i < len(m.holders); {
		if m.holders[i].Expires.After(now) {
			i++
		} else {
			m.end(i, now)
		}
	}
	m.spent = slices.DeleteFunc(m.spent, func(s modelSpent) bool { return !s.until.After(now) })
	for m.room() && m.refusal() == nil {
		i := slices.IndexFunc(m.places, func(p modelPlace) bool { return !p.token.IsZero() })
		if i < 0 {
			return
		}
		p := m.places[i]
		m.places = slices.Delete(m.places, i, i+1)
		l := m.grant(p.token, p.key, p.who, p.ttl, now)
		m.verdicts[p.token] = verdict{how: "granted", lease: l}
	}
}

// waitIsOver tells whether the place is kept.
func (m *model) waitIsOver(i int, now time.Time) bool {
	p := &m.places[i]
	if !p.token.IsZero() {
		m.verdicts[p.token] = verdict{how: "timed out"}
		if !p.key.IsZero() && m.keep > 0 {
			p.token, p.deadline = lease.Token{}, now.Add(m.keep)
			return true
		}
	}
	m.places = slices.Delete(m.places, i, i+1)
	return false
}

func (m *model) end(i int, now time.Time) {
	if k := m.holders[i].key; !k.IsZero() {
		m.spent = append(m.spent, modelSpent{k, now.Add(m.keep)})
	}
	m.holders = slices.Delete(m.holders, i, i+1)
}

func (m *model) grant(t lease.Token, k lease.Key, who lease.Who, ttl time.Duration, now time.Time) lease.Lease {
	m.fence++
	slot := 0
	for slices.ContainsFunc(m.holders, func(h modelHolder) bool { return h.Slot == slot }) {
		slot++
	}
	l := lease.Lease{
		Token: t, Who: who, Fence: m.fence, Slot: slot, Capacity: m.capacity, TTL: ttl, Since: now, Expires: now.Add(ttl),
	}
	m.holders = append(m.holders, modelHolder{l, k, ttl})
	return l
}

func (m *model) holder(t lease.Token) *modelHolder {
	for i := range m.holders {
		if m.holders[i].Token == t {
			return &m.holders[i]
		}
	}
	return nil
}

func (m *model) room() bool { return len(m.holders) < max(m.capacity, 1) }

func (m *model) refusal() error {
	if m.suspended {
		return lease.ErrSuspended
	}
	if m.fence == lease.MaxFence {
		return lease.ErrFenceExhausted
	}
	return nil
}

func (m *model) held(kind error, k lease.Key, now time.Time) *lease.HeldError {
	e := &lease.HeldError{Kind: kind, Waiting: len(m.places)}
	for i := range m.holders {
		h := &m.holders[i]
		e.Holders = append(e.Holders, h.Who.Name)
		if left := h.Expires.Sub(now); i == 0 || left < e.RetryAfter {
			e.RetryAfter = left
		}
	}
	for i := range m.places {
		if !k.IsZero() && m.places[i].key == k {
			e.Position = i + 1
		}
	}
	return e
}

// restart forgets what no journal keeps: requests that wait, places without a key, later names.
func (m *model) restart(now time.Time) {
	m.places = slices.DeleteFunc(m.places, func(p modelPlace) bool { return p.key.IsZero() })
	for i := range m.places {
		p := &m.places[i]
		p.token, p.who, p.deadline = lease.Token{}, p.first, now.Add(m.keep)
	}
	m.suspended = false
}

func (m *model) status() lease.Status {
	st := lease.Status{Capacity: m.capacity}
	for i := range m.holders {
		h := &m.holders[i]
		st.Holders = append(st.Holders, lease.Holder{
			Who: h.Who, Fence: h.Fence, Slot: h.Slot, Since: h.Since, Renewed: h.Renewed, Expires: h.Expires,
		})
	}
	for i, p := range m.places {
		st.Waiters = append(st.Waiters, lease.Waiter{
			Who: p.who, Position: i + 1, Enqueued: p.enqueued, Away: p.token.IsZero(),
		})
	}
	return st
}

func (m *model) nextDue() (at time.Time, ok bool) {
	earlier := func(t time.Time) {
		if !ok || t.Before(at) {
			at, ok = t, true
		}
	}
	for _, p := range m.places {
		earlier(p.deadline)
	}
	for _, h := range m.holders {
		earlier(h.Expires)
	}
	for _, s := range m.spent {
		earlier(s.until)
	}
	return at, ok
}

func (m *model) idle() bool { return len(m.holders)+len(m.places)+len(m.spent) == 0 }
