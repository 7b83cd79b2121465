package httpserver

import (
	"context"
	"errors"
	"net/http"
	"time"

	"legible.sh/mutex/api"
	"legible.sh/mutex/internal/policy"
)

// History is what is read of the audit trail.
type History interface {
	// Events gives the newest events first. Its errors wrap ErrHistory.
	Events(context.Context, HistoryQuery) ([]api.HistoryEvent, error)
}

// ErrHistory says that the history cannot be read now. The locks do not care.
var ErrHistory = errors.New("the history cannot be read now")

// HistoryQuery says which events are asked for. Zero values ask for all.
type HistoryQuery struct {
	Topic  string // exactly this one
	Prefix string // or those whose name begins so
	Since  time.Time
	Before int64 // ids below
	Limit  int

	Renewals bool // renewals too
}

// GetHistory tells what happened on a topic, to whoever may read its status.
func (s *Server) GetHistory(w http.ResponseWriter, r *http.Request, topic api.Topic, p api.GetHistoryParams) {
	name, _, err := s.enter(r, topic, policy.Read)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	var bad problems
	limit, before := bad.page(p.Limit, p.Before)
	if err := bad.err(); err != nil {
		s.fail(w, r, err)
		return
	}
	s.events(w, r, HistoryQuery{
		Topic: string(name), Since: deref(p.Since, time.Time{}), Before: before, Limit: limit,
		Renewals: deref(p.Renewals, false),
	})
}

// ListHistory tells what happened on all topics.
func (s *Server) ListHistory(w http.ResponseWriter, r *http.Request, p api.ListHistoryParams) {
	var bad problems
	limit, before := bad.page(p.Limit, p.Before)
	bad.partOfTopic("prefix", p.Prefix)
	if err := s.adminWith(r, bad); err != nil {
		s.fail(w, r, err)
		return
	}
	s.events(w, r, HistoryQuery{
		Prefix: deref(p.Prefix, ""), Since: deref(p.Since, time.Time{}), Before: before, Limit: limit,
		Renewals: deref(p.Renewals, false),
	})
}

// events writes a page. It asks for one event more than the page holds, to know whether another page follows.
func (s *Server) events(w http.ResponseWriter, r *http.Request, q HistoryQuery) {
	if s.options.History == nil {
		s.fail(w, r, errUnsupported)
		return
	}
	limit := q.Limit
	q.Limit++
	events, err := s.options.History.Events(r.Context(), q)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	page := api.HistoryPage{Events: events}
	if len(events) > limit {
		page.Events = events[:limit]
		page.Next = nextEvents(r, page.Events[limit-1].ID)
	}
	s.write(w, http.StatusOK, page)
}
