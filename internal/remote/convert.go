package remote

import (
	"math"
	"time"

	"legible.sh/mutex/api"
	"legible.sh/mutex/api/client"
	"legible.sh/mutex/internal/locker"
)

func grant(g *api.Grant) locker.Grant {
	return locker.Grant{
		Key: g.Topic, Token: locker.Token(g.Lease), Name: g.Name, Fence: g.Fence, Slot: g.Slot, TTL: duration(g.TTL),
		Expires: g.Expires.Time, Capacity: g.Capacity, Holders: g.Holders, RenewURL: g.Renew, ReleaseURL: g.Release,
	}
}

func (r *Remote) progress(p client.Progress) locker.Progress {
	q := locker.Progress{Holders: p.Holders, Position: p.Position, Waiting: p.Waiting, RetryAfter: p.RetryAfter}
	if p.Trouble != nil {
		q.Trouble, q.Patience = r.err(p.Trouble), p.Patience
	}
	return q
}

func status(s *api.TopicStatus) locker.Status {
	v := locker.Status{
		Key: s.Topic, State: locker.State(s.State), Capacity: value(s.Capacity), Holders: holders(s.Holders), Waiting: s.Waiting,
	}
	for _, w := range s.Waiters {
		v.Waiters = append(v.Waiters, locker.Waiter{
			Who: locker.Who{Name: w.Name, Reason: w.Reason}, Since: w.EnqueuedAt.Time, Position: w.Position,
		})
	}
	return v
}

func summary(t api.TopicSummary) locker.Status {
	return locker.Status{
		Key: t.Topic, State: locker.State(t.State), Capacity: value(t.Capacity), Holders: holders(t.Holders), Waiting: t.Waiting,
	}
}

func holders(all []api.Holder) []locker.Holder {
	out := make([]locker.Holder, 0, len(all))
	for _, h := range all {
		v := locker.Holder{
			Who:   locker.Who{Name: h.Name, Reason: h.Reason, Host: h.Host, PID: value(h.PID)},
			Fence: h.Fence, Since: h.Since.Time, Expires: h.Expires.Time,
		}
		if h.Renewed != nil {
			v.Renewed = h.Renewed.Time
		}
		out = append(out, v)
	}
	return out
}

func event(e api.HistoryEvent) locker.Event {
	return locker.Event{
		Who: locker.Who{Name: e.Name, Reason: e.Reason, Host: e.Host, PID: value(e.PID)},
		ID:  e.ID, Time: e.Time.Time, Kind: locker.EventKind(e.Event), Key: e.Topic, LeaseID: e.LeaseID, Fence: e.Fence,
		TTL: duration(value(e.TTL)), Waited: duration(value(e.Waited)), Held: duration(value(e.Held)), By: e.By,
	}
}

func duration(seconds float64) time.Duration {
	return time.Duration(math.Round(seconds * float64(time.Second)))
}

func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
