package lease_test

import (
	"slices"
	"time"

	"legible.sh/mutex/internal/lease"
)

func (m *model) run(c *lease.Command, now time.Time) (lease.Outcome, error) {
	switch c.Op {
	case lease.Acquire:
		return m.acquire(c, now)
	case lease.Renew:
		return m.renew(c, now)
	case lease.Release:
		return m.release(func(h *modelHolder) bool { return h.Token == c.Token }, now)
	case lease.Check:
		if h := m.holder(c.Token); h != nil {
			return lease.Outcome{Lease: h.Lease}, nil
		}
		return lease.Outcome{}, lease.ErrGone
	case lease.GiveUp:
		return m.giveUp(c.Key, now)
	case lease.Abandon:
		m.abandon(c.Token, now)
	case lease.Force:
		for i := 0; i < len(m.holders); {
			if c.Fence == 0 || m.holders[i].Fence == c.Fence {
				m.end(i, now)
			} else {
				i++
			}
		}
	}
	return lease.Outcome{}, nil
}

func (m *model) renew(c *lease.Command, now time.Time) (lease.Outcome, error) {
	h := m.holder(c.Token)
	if h == nil {
		return lease.Outcome{}, lease.ErrGone
	}
	if c.TTL != 0 {
		h.TTL = c.TTL
	}
	h.Renewed, h.Expires = now, now.Add(h.TTL)
	return lease.Outcome{Lease: h.Lease}, nil
}

func (m *model) acquire(c *lease.Command, now time.Time) (lease.Outcome, error) {
	mine := -1
	if !c.Key.IsZero() {
		if outcome, decided, err := m.knownKey(c); decided {
			return outcome, err
		}
		mine = slices.IndexFunc(m.places, func(p modelPlace) bool { return p.key == c.Key })
	}
	if mine < 0 && c.Capacity != 0 && m.capacity != 0 && c.Capacity != m.capacity {
		return lease.Outcome{}, &lease.ConflictError{Capacity: m.capacity}
	}
	if m.room() && m.refusal() == nil {
		ttl := c.TTL
		if mine >= 0 {
			ttl = m.places[mine].ttl
			m.places = slices.Delete(m.places, mine, mine+1)
		}
		if m.capacity == 0 {
			m.capacity = max(c.Capacity, 1)
		}
		return lease.Outcome{Lease: m.grant(c.Token, c.Key, c.Who, ttl, now)}, nil
	}
	if mine >= 0 {
		return m.comeBack(mine, c, now)
	}
	return m.enqueue(c, now)
}

// knownKey answers an acquire whose key alone decides it.
func (m *model) knownKey(c *lease.Command) (outcome lease.Outcome, decided bool, err error) {
	differs := func(ttl time.Duration) bool {
		return !c.TTLOmitted && c.TTL != ttl || c.Capacity != 0 && c.Capacity != m.capacity
	}
	for _, s := range m.spent {
		if s.key == c.Key {
			return outcome, true, lease.ErrKeySpent
		}
	}
	for i := range m.holders {
		if h := &m.holders[i]; h.key == c.Key {
			if differs(h.asked) {
				return outcome, true, lease.ErrKeyReused
			}
			return lease.Outcome{Lease: h.Lease, Replayed: true}, true, nil
		}
	}
	for i := range m.places {
		if p := &m.places[i]; p.key == c.Key && differs(p.ttl) {
			return outcome, true, lease.ErrKeyReused
		}
	}
	return outcome, false, nil
}

func (m *model) comeBack(mine int, c *lease.Command, now time.Time) (lease.Outcome, error) {
	p := &m.places[mine]
	if c.Wait > 0 {
		if !p.token.IsZero() {
			m.verdicts[p.token] = verdict{how: "superseded"}
		}
		p.token, p.who, p.deadline = c.Token, c.Who, now.Add(c.Wait)
		return lease.Outcome{Waiting: true}, nil
	}
	if p.token.IsZero() {
		p.deadline = now.Add(m.keep)
	}
	if m.room() {
		return lease.Outcome{}, m.refusal()
	}
	return lease.Outcome{}, m.held(lease.ErrBusy, c.Key, now)
}

func (m *model) enqueue(c *lease.Command, now time.Time) (lease.Outcome, error) {
	switch {
	case m.room():
		return lease.Outcome{}, m.refusal()
	case c.Wait == 0:
		return lease.Outcome{}, m.held(lease.ErrBusy, c.Key, now)
	case c.MaxWaiters != 0 && len(m.places) >= c.MaxWaiters:
		return lease.Outcome{}, lease.ErrWaitersLimit
	case m.suspended && !c.Key.IsZero():
		return lease.Outcome{}, lease.ErrSuspended
	}
	m.places = append(m.places, modelPlace{
		token: c.Token, key: c.Key, who: c.Who, first: c.Who, ttl: c.TTL, enqueued: now, deadline: now.Add(c.Wait),
	})
	return lease.Outcome{Waiting: true}, nil
}

func (m *model) release(which func(*modelHolder) bool, now time.Time) (lease.Outcome, error) {
	for i := range m.holders {
		if which(&m.holders[i]) {
			l := m.holders[i].Lease
			l.Renewed = time.Time{}
			m.end(i, now)
			return lease.Outcome{Lease: l}, nil
		}
	}
	return lease.Outcome{}, lease.ErrGone
}

func (m *model) giveUp(k lease.Key, now time.Time) (lease.Outcome, error) {
	if k.IsZero() {
		return lease.Outcome{}, nil
	}
	if outcome, err := m.release(func(h *modelHolder) bool { return h.key == k }, now); err == nil {
		return outcome, nil
	}
	i := slices.IndexFunc(m.places, func(p modelPlace) bool { return p.key == k })
	if i < 0 && m.suspended {
		if slices.ContainsFunc(m.spent, func(s modelSpent) bool { return s.key == k }) {
			return lease.Outcome{}, nil
		}
		return lease.Outcome{}, lease.ErrSuspended
	}
	m.spent = append(m.spent, modelSpent{k, now.Add(m.keep)})
	if i < 0 {
		return lease.Outcome{}, nil
	}
	if !m.places[i].token.IsZero() {
		m.verdicts[m.places[i].token] = verdict{how: "gave up"}
	}
	m.places = slices.Delete(m.places, i, i+1)
	return lease.Outcome{LeftQueue: true}, nil
}

func (m *model) abandon(t lease.Token, now time.Time) {
	for i := range m.places {
		p := &m.places[i]
		if t.IsZero() || p.token != t {
			continue
		}
		m.verdicts[t] = verdict{how: "abandoned"}
		if p.key.IsZero() {
			m.places = slices.Delete(m.places, i, i+1)
		} else {
			p.token, p.deadline = lease.Token{}, now.Add(m.keep)
		}
		return
	}
	_, _ = m.release(func(h *modelHolder) bool { return h.Token == t && h.key.IsZero() }, now)
}
