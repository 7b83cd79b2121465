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

func (m *model) run(c *lease.Command, now time.Time) (lease.Outcome, error) {
	switch c.Op {
	case lease.Acquire:
		return m.acquire(c, now)
	case lease.Renew:
		h := m.holder(c.Token)
		if h == nil {
			return lease.Outcome{}, lease.ErrGone
		}
		if c.TTL != 0 {
			h.TTL = c.TTL
		}
		h.Renewed, h.Expires = now, now.Add(h.TTL)
		return lease.Outcome{Lease: h.Lease}, nil
	case lease.Release:
		return m.release(func(h *modelHolder) bool { return h.Token == c.Token }, now)
	case lease.Check:
		if h := m.holder(c.Token); h != nil {
			return lease.Outcome{Lease: h.Lease}, nil
		}
		return lease.Outcome{}, lease.ErrGone
	case lease.GiveUp:
		return m.giveUp(c.Key, now), nil
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

func (m *model) acquire(c *lease.Command, now time.Time) (lease.Outcome, error) {
	differs := func(ttl time.Duration) bool {
		return !c.TTLOmitted && c.TTL != ttl || c.Capacity != 0 && c.Capacity != m.capacity
	}
	mine := -1
	if !c.Key.IsZero() {
		if slices.ContainsFunc(m.spent, func(s modelSpent) bool { return s.key == c.Key }) {
			return lease.Outcome{}, lease.ErrKeySpent
		}
		for i := range m.holders {
			if h := &m.holders[i]; h.key != c.Key {
				continue
			} else if differs(h.asked) {
				return lease.Outcome{}, lease.ErrKeyReused
			} else {
				return lease.Outcome{Lease: h.Lease, Replayed: true}, nil
			}
		}
		mine = slices.IndexFunc(m.places, func(p modelPlace) bool { return p.key == c.Key })
		if mine >= 0 && differs(m.places[mine].ttl) {
			return lease.Outcome{}, lease.ErrKeyReused
		}
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

func (m *model) giveUp(k lease.Key, now time.Time) lease.Outcome {
	if k.IsZero() {
		return lease.Outcome{}
	}
	if outcome, err := m.release(func(h *modelHolder) bool { return h.key == k }, now); err == nil {
		return outcome
	}
	m.spent = append(m.spent, modelSpent{k, now.Add(m.keep)})
	i := slices.IndexFunc(m.places, func(p modelPlace) bool { return p.key == k })
	if i < 0 {
		return lease.Outcome{}
	}
	if !m.places[i].token.IsZero() {
		m.verdicts[m.places[i].token] = verdict{how: "gave up"}
	}
	m.places = slices.Delete(m.places, i, i+1)
	return lease.Outcome{LeftQueue: true}
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
