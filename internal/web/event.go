package web

import (
	"legible.sh/mutex/api"
)

// eventView is an event of the history, told to people.
type eventView struct{ api.HistoryEvent }

// Word says what happened.
func (e eventView) Word() string {
	switch e.Event {
	case api.HistoryEventKindAcquired:
		return "granted"
	case api.HistoryEventKindForceReleased:
		return "forced"
	}
	return string(e.Event)
}

// Bad tells whether it is something that should not happen often.
func (e eventView) Bad() bool {
	return e.Event == api.HistoryEventKindExpired || e.Event == api.HistoryEventKindForceReleased
}

// Detail says how long it took.
func (e eventView) Detail() string {
	switch {
	case e.Event == api.HistoryEventKindAcquired && e.Waited != nil && *e.Waited > 0:
		return "after waiting " + seconds(e.Waited)
	case e.Event == api.HistoryEventKindAcquired:
		return "at once"
	case e.Held != nil:
		return "held for " + seconds(e.Held)
	}
	return ""
}

// Place says where it ran, as far as is known.
func (e eventView) Place() string { return place(e.Host, e.PID) }

func told(events []api.HistoryEvent) []eventView {
	out := make([]eventView, len(events))
	for i, e := range events {
		out[i] = eventView{e}
	}
	return out
}
