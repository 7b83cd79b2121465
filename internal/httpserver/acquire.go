package httpserver

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"time"

	"legible.sh/mutex/api"
	"legible.sh/mutex/internal/lease"
	"legible.sh/mutex/internal/policy"
	"legible.sh/mutex/topicactor"
)

// Acquire grants a lease, or says why not.
func (s *Server) Acquire(w http.ResponseWriter, r *http.Request, topic api.Topic, p api.AcquireParams) {
	name, limits, err := s.enter(r, topic, policy.Acquire)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	c, err := s.acquireCommand(w, r, p, limits)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	answer, err := s.options.Registry.Do(r.Context(), name, c)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	sent := s.sendGrant(w, r, name, answer)
	switch {
	case !c.Key.IsZero(): // the client can ask again
	case sent != nil || r.Context().Err() != nil:
		s.takeBack(name, c.Token)
	default:
		s.delivering(r.Context(), name, c.Token)
	}
}

// takeBack ends a grant whose client is gone and cannot ask for it again.
func (s *Server) takeBack(topic lease.Topic, token lease.Token) {
	_, _ = s.options.Registry.Do(context.Background(), topic, lease.Command{Op: lease.Abandon, Token: token})
}

func (s *Server) sendGrant(w http.ResponseWriter, r *http.Request, topic lease.Topic, a topicactor.Answer) error {
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	timing(w, a.Queued, a.Stored)
	if a.Replayed {
		w.Header()["Idempotency-Replayed"] = replayed
	}
	*buf = s.appendGrant((*buf)[:0], r, topic, &a)
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
// Host header that net/http accepted, and names of a narrow alphabet.
func (s *Server) appendLeaseURL(b []byte, r *http.Request, topic lease.Topic, t lease.Token) []byte {
	b = s.appendBase(b, r)
	b = append(b, '/')
	b = append(b, topic...)
	b = append(b, '/')
	return t.AppendReveal(b)
}

// acquireCommand makes the command of a request, with every parameter checked, its body read to the end (only then
// does net/http notice a client that hangs up) and a lease made.
func (s *Server) acquireCommand(w http.ResponseWriter, r *http.Request, p api.AcquireParams, limits policy.Limits) (lease.Command, error) {
	body, err := s.readBody(w, r)
	if err != nil {
		return lease.Command{}, err
	}
	var bad problems
	c := lease.Command{
		Op:         lease.Acquire,
		TTL:        bad.duration("ttl", p.TTL, minTTL, limits.MaxTTL, min(defaultTTL, limits.MaxTTL)),
		TTLOmitted: p.TTL == nil,
		Wait:       bad.duration("wait", p.Wait, 0, limits.MaxWait, 0),
		Capacity:   bad.integer(api.ParameterInQuery, "capacity", p.Capacity, 1, limits.MaxCapacity),
		MaxWaiters: limits.MaxWaiters,
		Key:        bad.key(p.IdempotencyKey),
		Who:        bad.who(whoParams{p.XName, p.Name, body, p.XReason, p.Reason, p.XHost, p.Host, p.XPid, p.PID}),
	}
	if err := bad.err(); err != nil {
		return lease.Command{}, err
	}
	rand.Read(c.Token[:])
	if c.Who.Name == "" {
		c.Who.Name = anonymous()
	}
	return c, nil
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
