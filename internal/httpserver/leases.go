package httpserver

import (
	"net/http"
	"time"

	"legible.sh/mutex/api"
	"legible.sh/mutex/internal/lease"
	"legible.sh/mutex/internal/policy"
)

// Renew keeps a lease alive.
func (s *Server) Renew(w http.ResponseWriter, r *http.Request, topic api.Topic, l api.Lease, p api.RenewParams) {
	name, limits, err := s.enter(r, topic, policy.Acquire)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	var bad problems
	c := lease.Command{Op: lease.Renew, TTL: bad.duration("ttl", p.TTL, minTTL, limits.MaxTTL, 0), Token: bad.lease(l, p.XLease)}
	if err := bad.err(); err != nil {
		s.fail(w, r, err)
		return
	}
	answer, err := s.options.Registry.Do(r.Context(), name, &c)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	timing(w, answer.Queued, answer.Stored)
	held := &answer.Lease
	o := newObject((*buf)[:0])
	o.string("topic", string(name))
	o.token("lease", held.Token)
	o.string("name", held.Who.Name)
	o.int("fence", int64(held.Fence))
	o.seconds("ttl", held.TTL)
	o.time("expires", held.Expires)
	*buf = o.end()
	_ = send(w, http.StatusOK, *buf)
}

// CheckLease says whether a lease lives, and changes nothing.
func (s *Server) CheckLease(w http.ResponseWriter, r *http.Request, topic api.Topic, l api.Lease, p api.CheckLeaseParams) {
	name, _, err := s.enter(r, topic, policy.Read)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	var bad problems
	c := lease.Command{Op: lease.Check, Token: bad.lease(l, p.XLease)}
	if err := bad.err(); err != nil {
		s.fail(w, r, err)
		return
	}
	answer, err := s.options.Registry.Do(r.Context(), name, &c)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	timing(w, answer.Queued, answer.Stored)
	s.write(w, http.StatusOK, api.LeaseCheck{
		Topic: string(name), Name: answer.Lease.Who.Name, Fence: int64(answer.Lease.Fence),
		Expires: api.Time{Time: answer.Lease.Expires},
	})
}

// Release ends a lease, or whatever a key has.
func (s *Server) Release(w http.ResponseWriter, r *http.Request, topic api.Topic, l api.Lease, p api.ReleaseParams) {
	name, _, err := s.enter(r, topic, policy.Acquire)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	c, err := releaseCommand(l, p)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	answer, err := s.options.Registry.Do(r.Context(), name, &c)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	timing(w, answer.Queued, answer.Stored)
	if c.Op == lease.GiveUp && answer.Lease.Token.IsZero() {
		s.write(w, http.StatusOK, api.Release{Topic: string(name), LeftQueue: &answer.LeftQueue})
		return
	}
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	o := newObject((*buf)[:0])
	o.key("released")
	o.b = append(o.b, "true"...)
	o.string("topic", string(name))
	o.string("name", answer.Lease.Who.Name)
	o.int("fence", int64(answer.Lease.Fence))
	*buf = o.end()
	_ = send(w, http.StatusOK, *buf)
}

// releaseCommand gives up by key when there is a key and no lease.
func releaseCommand(l api.Lease, p api.ReleaseParams) (lease.Command, error) {
	var bad problems
	c := lease.Command{Op: lease.GiveUp, Key: bad.key(p.IdempotencyKey)}
	if l != "-" || p.XLease != nil || p.IdempotencyKey == nil {
		c = lease.Command{Op: lease.Release, Token: bad.lease(l, p.XLease)}
	}
	return c, bad.err()
}

// seconds reads a number of seconds; the caller has checked its range.
func seconds(f float64) time.Duration { return time.Duration(f * float64(time.Second)) }
