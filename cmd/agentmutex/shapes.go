package main

import (
	"context"
	"fmt"
	"time"

	"legible.sh/mutex/internal/cli"
	"legible.sh/mutex/internal/locker"
)

// stamp is a time as JSON has it: RFC 3339 in UTC with milliseconds.
type stamp time.Time

// MarshalText gives t in that form.
func (t stamp) MarshalText() ([]byte, error) {
	return time.Time(t).UTC().AppendFormat(nil, "2006-01-02T15:04:05.000Z07:00"), nil
}

type holderJSON struct {
	Agent      string `json:"agent"`
	PID        int    `json:"pid"`
	Host       string `json:"host"`
	Reason     string `json:"reason"`
	AcquiredAt stamp  `json:"acquired_at"`
	ExpiresAt  stamp  `json:"expires_at"`
	RenewedAt  *stamp `json:"renewed_at"` // null: never
	Fence      int64  `json:"fence"`
	LeaseID    string `json:"lease_id"`
}

type waiterJSON struct {
	Agent      string `json:"agent"`
	Fresh      bool   `json:"fresh"`
	EnqueuedAt stamp  `json:"enqueued_at"`
	Position   int    `json:"position"` // 0 unless fresh
	PID        int    `json:"pid"`
	Host       string `json:"host"`
	Reason     string `json:"reason"`
}

type statusJSON struct {
	Key     string       `json:"key"`
	State   locker.State `json:"state"`
	Holder  *holderJSON  `json:"holder"`
	Waiters []waiterJSON `json:"waiters"`
	Error   string       `json:"error"`
}

type grantJSON struct {
	statusJSON
	Token string `json:"token"`
	Fence int64  `json:"fence"`
}

type eventJSON struct {
	TS          stamp            `json:"ts"`
	Key         string           `json:"key"`
	Event       locker.EventKind `json:"event"`
	LeaseID     string           `json:"lease_id"`
	Agent       string           `json:"agent"`
	PID         int              `json:"pid"`
	Host        string           `json:"host"`
	Reason      string           `json:"reason"`
	TTLSeconds  float64          `json:"ttl_seconds"`
	HeldSeconds float64          `json:"held_seconds"`
	Detail      string           `json:"detail"`
}

type releasedJSON struct {
	Key      string `json:"key"`
	Released bool   `json:"released"`
	Agent    string `json:"agent"`
	Fence    int64  `json:"fence"`
}

type prunedJSON struct {
	Pruned    int `json:"pruned"`
	Remaining int `json:"remaining"`
}

type forcedJSON struct {
	Key      string       `json:"key"`
	DryRun   bool         `json:"dry_run"`
	Released []holderJSON `json:"released"`
	Mended   bool         `json:"mended"`
}

// shapes print results in the form of this front door.
func (t *target) shapes() cli.Shapes {
	return cli.Shapes{
		Grant:    func(g locker.Grant) any { return grantJSON{t.look(g.Key), g.Token.Reveal(), g.Fence} },
		Renewal:  func(r locker.Renewal) any { return t.look(r.Key) },
		Check:    func(r locker.Renewal) any { return t.look(r.Key) },
		Released: func(r locker.Released) any { return releasedJSON{r.Key, true, r.Name, r.Fence} },
		Status:   func(s locker.Status) any { return statusOf(s) },
		List:     func(all []locker.Status) any { return each(all, statusOf) },
		History:  func(all []locker.Event) any { return each(all, eventOf) },
		Pruned:   func(p locker.Pruned) any { return prunedJSON(p) },
		Forced: func(f locker.Forced) any {
			return forcedJSON{f.Key, f.DryRun, each(f.Released, holderOf), f.Mended}
		},
	}
}

// look is the key as it stands now, with all that a grant or a renewal does not repeat.
func (t *target) look(key string) statusJSON {
	s, err := t.store.Status(context.Background(), key)
	if err != nil { // the key was fit a moment ago, so nothing is wrong with it
		return statusJSON{Key: key, State: locker.Unreadable, Waiters: []waiterJSON{}, Error: err.Error()}
	}
	return statusOf(s)
}

func statusOf(s locker.Status) statusJSON {
	out := statusJSON{Key: s.Key, State: s.State, Waiters: each(s.Waiters, waiterOf), Error: s.Error}
	if len(s.Holders) > 0 {
		h := holderOf(s.Holders[0])
		out.Holder = &h
	}
	return out
}

func holderOf(h locker.Holder) holderJSON {
	out := holderJSON{
		Agent: h.Name, PID: h.PID, Host: h.Host, Reason: h.Reason, AcquiredAt: stamp(h.Since), ExpiresAt: stamp(h.Expires),
		Fence: h.Fence, LeaseID: h.LeaseID,
	}
	if !h.Renewed.IsZero() {
		out.RenewedAt = (*stamp)(&h.Renewed)
	}
	return out
}

func waiterOf(w locker.Waiter) waiterJSON {
	return waiterJSON{
		Agent: w.Name, Fresh: !w.Away, EnqueuedAt: stamp(w.Since), Position: w.Position, PID: w.PID, Host: w.Host, Reason: w.Reason,
	}
}

func eventOf(e locker.Event) eventJSON {
	return eventJSON{
		TS: stamp(e.Time), Key: e.Key, Event: e.Kind, LeaseID: e.LeaseID, Agent: e.Name, PID: e.PID, Host: e.Host,
		Reason: e.Reason, TTLSeconds: e.TTL.Seconds(), HeldSeconds: e.Held.Seconds(), Detail: detailOf(e),
	}
}

func detailOf(e locker.Event) string {
	text := fmt.Sprintf("fence %d", e.Fence)
	if e.Waited > 0 {
		text += fmt.Sprintf(", after %v in line", e.Waited.Round(time.Millisecond))
	}
	if e.By != "" {
		text += ", by " + e.By
	}
	return text
}

// each gives a list that is never null.
func each[A, B any](all []A, to func(A) B) []B {
	out := make([]B, 0, len(all))
	for _, one := range all {
		out = append(out, to(one))
	}
	return out
}
