package cli

import "legible.sh/mutex/internal/locker"

type wireWaiter struct {
	Name       string   `json:"name"`
	EnqueuedAt wireTime `json:"enqueued_at"`
	Position   int      `json:"position"`
	Reason     string   `json:"reason,omitempty"`
}

type wireStatus struct {
	Topic    string        `json:"topic"`
	State    locker.State  `json:"state"`
	Capacity *int          `json:"capacity"`
	Holders  []wireHolder  `json:"holders"`
	Waiting  int           `json:"waiting"`
	Waiters  *[]wireWaiter `json:"waiters,omitempty"`
	Error    string        `json:"error,omitempty"`
}

func wireSummaryOf(s locker.Status) wireStatus {
	w := wireStatus{Topic: s.Key, State: s.State, Holders: wireHoldersOf(s.Holders), Waiting: s.Waiting, Error: s.Error}
	if s.Capacity > 0 {
		w.Capacity = &s.Capacity
	}
	return w
}

func wireStatusOf(s locker.Status) any {
	w := wireSummaryOf(s)
	waiters := make([]wireWaiter, 0, len(s.Waiters))
	for _, one := range s.Waiters {
		waiters = append(waiters, wireWaiter{one.Name, wireTime(one.Since), one.Position, one.Reason})
	}
	w.Waiters = &waiters
	return w
}

type wireList struct {
	Topics []wireStatus `json:"topics"`
}

func wireListOf(all []locker.Status) any {
	l := wireList{Topics: make([]wireStatus, 0, len(all))}
	for _, s := range all {
		l.Topics = append(l.Topics, wireSummaryOf(s))
	}
	return l
}

type wireEvent struct {
	ID      int64            `json:"id"`
	Time    wireTime         `json:"time"`
	Event   locker.EventKind `json:"event"`
	Topic   string           `json:"topic"`
	LeaseID string           `json:"lease_id"`
	Name    string           `json:"name"`
	Fence   int64            `json:"fence"`
	TTL     float64          `json:"ttl,omitempty"`
	Waited  *float64         `json:"waited,omitempty"`
	Held    *float64         `json:"held,omitempty"`
	Reason  string           `json:"reason,omitempty"`
	Host    string           `json:"host,omitempty"`
	PID     int              `json:"pid,omitempty"`
	By      string           `json:"by,omitempty"`
}

type wireHistory struct {
	Events []wireEvent `json:"events"`
}

func wireHistoryOf(all []locker.Event) any {
	h := wireHistory{Events: make([]wireEvent, 0, len(all))}
	for _, e := range all {
		w := wireEvent{
			e.ID, wireTime(e.Time), e.Kind, e.Key, e.LeaseID, e.Name, e.Fence, e.TTL.Seconds(), nil, nil, e.Reason, e.Host,
			e.PID, e.By,
		}
		// As the server has it: the 0 of who had not to wait is told, too.
		switch e.Kind {
		case locker.EventAcquired:
			w.Waited = new(e.Waited.Seconds())
		case locker.EventRenewed:
		default:
			w.Held = new(e.Held.Seconds())
		}
		h.Events = append(h.Events, w)
	}
	return h
}

type wirePruned struct {
	Pruned    int `json:"pruned"`
	Remaining int `json:"remaining"`
}

func wirePrunedOf(p locker.Pruned) any { return wirePruned(p) }

type wireForced struct {
	Topic    string       `json:"topic"`
	DryRun   bool         `json:"dry_run"`
	Released []wireHolder `json:"released"`
	Holders  []string     `json:"holders"`
	Waiting  int          `json:"waiting"`
	Mended   bool         `json:"mended,omitempty"`
}

func wireForcedOf(f locker.Forced) any {
	return wireForced{f.Key, f.DryRun, wireHoldersOf(f.Released), listed(f.Holders), f.Waiting, f.Mended}
}
