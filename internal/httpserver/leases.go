package httpserver

import (
	"net/http"

	"legible.sh/mutex/api"
	"legible.sh/mutex/internal/lease"
	"legible.sh/mutex/internal/policy"
	"legible.sh/mutex/topicactor"
)

// Renew keeps a lease alive.
func (s *Server) Renew(w http.ResponseWriter, r *http.Request, topic api.Topic, l api.Lease, p api.RenewParams) {
	name, answer := s.do(w, r, topic, policy.Acquire, func(bad *problems, limits policy.Limits) lease.Command {
		return lease.Command{
			Op: lease.Renew, TTL: bad.duration("ttl", p.TTL, minTTL, limits.MaxTTL, 0), Token: bad.lease(l, p.XLease, ""),
		}
	})
	if answer == nil {
		return
	}
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	held := &answer.Lease
	o := newObject((*buf)[:0])
	o.string("topic", string(name))
	o.token("lease", held.Token)
	o.string("name", held.Who.Name)
	o.int("fence", int64(held.Fence))
	o.seconds("ttl", held.TTL)
	o.time("expires", held.Expires)
	*buf = o.end()
	_ = send(w, http.StatusOK, *buf) // whoever hung up asks again
}

// CheckLease says whether a lease lives, and changes nothing.
func (s *Server) CheckLease(w http.ResponseWriter, r *http.Request, topic api.Topic, l api.Lease, p api.CheckLeaseParams) {
	name, answer := s.do(w, r, topic, policy.Read, func(bad *problems, _ policy.Limits) lease.Command {
		return lease.Command{Op: lease.Check, Token: bad.lease(l, p.XLease, "")}
	})
	if answer == nil {
		return
	}
	s.write(w, http.StatusOK, api.LeaseCheck{
		Topic: string(name), Name: answer.Lease.Who.Name, Fence: int64(answer.Lease.Fence),
		Expires: api.Time{Time: answer.Lease.Expires},
	})
}

// Release ends a lease, or whatever a key has.
func (s *Server) Release(w http.ResponseWriter, r *http.Request, topic api.Topic, l api.Lease, p api.ReleaseParams) {
	name, answer := s.do(w, r, topic, policy.Acquire, func(bad *problems, _ policy.Limits) lease.Command {
		key := bad.key(p.IdempotencyKey) // looked at beside a lease too, where it has no use
		if l == "-" && p.XLease == nil && p.IdempotencyKey != nil {
			return lease.Command{Op: lease.GiveUp, Key: key}
		}
		return lease.Command{Op: lease.Release, Token: bad.lease(l, p.XLease, "; or, to give up, an Idempotency-Key")}
	})
	if answer == nil {
		return
	}
	if answer.Lease.Token.IsZero() { // a key that had no lease
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
	_ = send(w, http.StatusOK, *buf) // whoever hung up asks again
}

// do runs the command that parse makes of a request. Where it is refused, the refusal has been answered, and the answer
// is nil. Acquire has its own way: it must not hold this frame while it waits.
func (s *Server) do(w http.ResponseWriter, r *http.Request, topic string, right policy.Right, parse func(*problems, policy.Limits) lease.Command) (lease.Topic, *topicactor.Answer) {
	name, limits, err := s.enter(r, topic, right)
	if err != nil {
		s.fail(w, r, err)
		return "", nil
	}
	var bad problems
	c := parse(&bad, limits)
	if err := bad.err(); err != nil {
		s.fail(w, r, err)
		return "", nil
	}
	answer, err := s.options.Registry.Do(r.Context(), name, &c)
	if err != nil {
		s.fail(w, r, err)
		return "", nil
	}
	timing(w, answer.Queued, answer.Stored)
	return name, answer
}
