package httpserver

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"sync"
	"time"

	"legible.sh/mutex/api"
	"legible.sh/mutex/internal/lease"
	"legible.sh/mutex/internal/policy"
	"legible.sh/mutex/topicactor"
)

// Acquire grants a lease, or says why not. Thousands of these may be parked in the registry at once, each on a stack of
// its own: what needs room is done in functions that have returned by then, so that a stack of 4 KiB suffices.
func (s *Server) Acquire(w http.ResponseWriter, r *http.Request, topic api.Topic, p api.AcquireParams) {
	name, limits, err := s.enter(r, topic, policy.Acquire)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	c := commands.Get().(*lease.Command)
	defer commands.Put(c)
	if err := s.acquireCommand(w, r, &p, limits, c); err != nil {
		s.fail(w, r, err)
		return
	}
	rand.Read(c.Token[:])
	answer, err := s.options.Registry.Do(r.Context(), name, c)
	if err != nil {
		s.failAcquire(w, r, err, limits.MaxWait)
		return
	}
	s.deliver(w, r, name, answer, !c.Key.IsZero())
}

var commands = sync.Pool{New: func() any { return new(lease.Command) }}

// deliver writes a grant; one that does not arrive is taken back, unless its client has a key to ask for it again.
func (s *Server) deliver(w http.ResponseWriter, r *http.Request, topic lease.Topic, a *topicactor.Answer, keyed bool) {
	sent := s.sendGrant(w, r, topic, a)
	switch {
	case keyed:
	case sent != nil || r.Context().Err() != nil:
		s.takeBack(topic, a.Lease.Token)
		abort() // before what was written goes out
	default:
		s.delivering(r.Context(), topic, a.Lease.Token)
	}
}

// takeBack ends a grant whose client is gone and cannot ask for it again.
func (s *Server) takeBack(topic lease.Topic, token lease.Token) {
	_, _ = s.options.Registry.Do(context.Background(), topic, &lease.Command{Op: lease.Abandon, Token: token})
}

func (s *Server) sendGrant(w http.ResponseWriter, r *http.Request, topic lease.Topic, a *topicactor.Answer) error {
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	timing(w, a.Queued, a.Stored)
	if a.Replayed {
		w.Header()["Idempotency-Replayed"] = replayed
	}
	*buf = s.appendGrant((*buf)[:0], r, topic, a)
	return send(w, http.StatusOK, *buf)
}

func (s *Server) appendGrant(b []byte, r *http.Request, topic lease.Topic, a *topicactor.Answer) []byte {
	l := &a.Lease
	o := newObject(b)
	o.string("topic", string(topic))
	o.token("lease", l.Token)
	o.string("name", l.Who.Name)
	o.int("fence", int64(l.Fence))
	o.int("slot", int64(l.Slot))
	o.seconds("ttl", l.TTL)
	o.time("expires", l.Expires)
	o.int("capacity", int64(l.Capacity))
	o.strings("holders", a.Holders)
	o.key("renew")
	o.b = append(s.appendLeaseURL(append(o.b, '"'), r, topic, l.Token), `/renew"`...)
	o.key("release")
	o.b = append(s.appendLeaseURL(append(o.b, '"'), r, topic, l.Token), '"')
	return o.end()
}

// appendLeaseURL appends the lease's own URL. What it is made of needs no escaping: a base URL that was parsed, or a
// host that [plainHost] passed, and names of a narrow alphabet.
func (s *Server) appendLeaseURL(b []byte, r *http.Request, topic lease.Topic, t lease.Token) []byte {
	b = s.appendBase(b, r)
	b = append(b, '/')
	b = append(b, topic...)
	b = append(b, '/')
	return t.AppendReveal(b)
}

// acquireCommand makes the command of a request, with every parameter checked, its body read to the end (only then
// does net/http notice a client that hangs up). Only the lease itself is missing then.
func (s *Server) acquireCommand(w http.ResponseWriter, r *http.Request, p *api.AcquireParams, limits policy.Limits, c *lease.Command) error {
	body, err := s.readBody(w, r)
	if err != nil {
		return err
	}
	var bad problems
	*c = lease.Command{Op: lease.Acquire, MaxWaiters: limits.MaxWaiters}
	c.TTL = bad.duration("ttl", p.TTL, minTTL, limits.MaxTTL, min(defaultTTL, limits.MaxTTL))
	c.TTLOmitted = p.TTL == nil
	c.Wait = bad.duration("wait", p.Wait, 0, limits.MaxWait, 0)
	c.Capacity = bad.integer(api.ParameterInQuery, "capacity", p.Capacity, 1, limits.MaxCapacity)
	c.Key = bad.key(p.IdempotencyKey)
	bad.who(&c.Who, p, body)
	if err := bad.err(); err != nil {
		return err
	}
	if c.Who.Name == "" {
		c.Who.Name = anonymous()
	}
	return nil
}

const (
	minTTL     = 100 * time.Millisecond
	defaultTTL = time.Minute
)

// anonymous names one who did not say: of its own randomness, never of the lease's.
func anonymous() string {
	var b [3]byte
	rand.Read(b[:])
	return "anon-" + hex.EncodeToString(b[:])
}
