package app

import (
	"context"
	"fmt"
	"time"

	"legible.sh/mutex/api"
	"legible.sh/mutex/internal/history"
	"legible.sh/mutex/internal/httpserver"
	"legible.sh/mutex/internal/lease"
	"legible.sh/mutex/internal/web"
)

// eventLog is a history, in a file or in memory.
type eventLog interface {
	Observe(topic lease.Topic, events []lease.Event)
	Query(ctx context.Context, q history.Query) ([]history.Event, error)
	Overview(ctx context.Context, q history.OverviewQuery) (*history.Overview, error)
	Stats() history.Stats
	Close(ctx context.Context) error
}

var (
	_ eventLog = (*history.Store)(nil)
	_ eventLog = (*history.Memory)(nil)
)

// pastEvents lets the HTTP server read the history in the wire's own terms.
type pastEvents struct{ store eventLog }

var (
	_ httpserver.History   = pastEvents{}
	_ httpserver.Overviews = pastEvents{}
)

// Events gives the newest events first.
func (p pastEvents) Events(ctx context.Context, q httpserver.HistoryQuery) ([]api.HistoryEvent, error) {
	events, err := p.store.Query(ctx, history.Query{
		Topic: q.Topic, Prefix: q.Prefix, Since: q.Since, Before: q.Before, Limit: q.Limit, Renewals: q.Renewals,
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", httpserver.ErrHistory, err)
	}
	return apiEvents(events), nil
}

// Overview tells how all topics went.
func (p pastEvents) Overview(ctx context.Context, since time.Time) (*web.Past, error) {
	o, err := p.store.Overview(ctx, history.OverviewQuery{Since: since})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", httpserver.ErrHistory, err)
	}
	past := &web.Past{
		Since: o.Since, Until: o.Until, Waits: web.Spread(o.Waits), Holds: web.Spread(o.Holds),
		LongestWaits: apiEvents(o.LongestWaits), LongestHolds: apiEvents(o.LongestHolds),
	}
	for _, b := range o.Contention {
		past.Contention = append(past.Contention, web.Bucket(b))
	}
	return past, nil
}

func apiEvents(events []history.Event) []api.HistoryEvent {
	out := make([]api.HistoryEvent, len(events))
	for i := range events {
		out[i] = apiEvent(&events[i])
	}
	return out
}

func apiEvent(e *history.Event) api.HistoryEvent {
	out := api.HistoryEvent{
		ID: e.ID, Time: api.Time{Time: e.At}, Event: api.HistoryEventKind(e.Kind.String()), Topic: e.Topic,
		LeaseID: e.LeaseID, Name: e.Name, Fence: int64(e.Fence), Reason: e.Reason, Host: e.Host, By: e.By,
	}
	if e.PID != 0 {
		out.PID = &e.PID
	}
	out.TTL = seconds(e.TTL > 0, e.TTL)
	out.Waited = seconds(e.Kind == history.Acquired, e.Waited)
	out.Held = seconds(e.Kind != history.Acquired && e.Kind != history.Renewed, e.Held)
	return out
}

// seconds gives whole milliseconds as the nearest number of seconds, which is written with three decimals at most.
// Duration.Seconds adds two numbers up, and may miss it by one bit.
func seconds(present bool, d time.Duration) *float64 {
	if !present {
		return nil
	}
	s := float64(d.Milliseconds()) / 1000
	return &s
}
