package dirstore

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"time"

	"legible.sh/mutex/internal/history"
	"legible.sh/mutex/internal/locker"
)

// History gives what happened, newest first. It is evidence, not the truth: a process that died at the wrong moment,
// or a full disk, leaves a gap.
func (s *Store) History(ctx context.Context, q locker.HistoryQuery) ([]locker.Event, error) {
	if q.Key != "" {
		if err := checkKey(q.Key); err != nil {
			return nil, err
		}
	}
	all, err := s.history.recent(ctx, q) // before the database, so that what is moved there meanwhile is seen
	if err != nil {
		return nil, err
	}
	old, err := s.history.stored(ctx, q)
	if err != nil {
		return nil, err
	}
	all = once(append(all, old...))
	// Each process writes for itself, so a release and the grant behind it may stand the wrong way round.
	slices.SortStableFunc(all, func(a, b history.Event) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.Fence, a.Fence))
	})
	if q.Limit > 0 {
		all = all[:min(q.Limit, len(all))]
	}
	events := make([]locker.Event, len(all))
	for i := range all {
		events[i] = eventOf(&all[i])
	}
	return events, nil
}

// recent gives the events that are not in the database yet, newest first, with the ids that they will have there.
func (r *recorder) recent(ctx context.Context, q locker.HistoryQuery) (all []history.Event, err error) {
	newest, err := r.stored(ctx, locker.HistoryQuery{Limit: 1, Renewed: true})
	if err != nil {
		return nil, err
	}
	id := int64(0)
	if len(newest) > 0 {
		id = newest[0].ID
	}
	for _, name := range []string{movingFile, spoolFile} {
		events, err := readSpool(r.path(name))
		if err != nil {
			return nil, err
		}
		for i := range events {
			e := &events[i]
			id++
			e.ID = id
			if (q.Key == "" || e.Topic == q.Key) && !e.At.Before(q.Since) && (q.Renewed || e.Kind != history.Renewed) {
				all = append(all, *e)
			}
		}
	}
	slices.Reverse(all)
	return all, nil
}

// stored gives the events in the database, newest first.
func (r *recorder) stored(ctx context.Context, q locker.HistoryQuery) (all []history.Event, err error) {
	if _, err := os.Stat(r.path(historyFile)); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	query := history.Query{Topic: q.Key, Since: q.Since, Renewals: q.Renewed}
	for q.Limit == 0 || len(all) < q.Limit {
		query.Limit = history.MaxLimit
		if q.Limit > 0 {
			query.Limit = min(q.Limit-len(all), history.MaxLimit)
		}
		page, err := history.Read(ctx, r.database(), query)
		if err != nil {
			return nil, err
		}
		all = append(all, page...)
		if len(page) < query.Limit {
			break
		}
		query.Before = page[len(page)-1].ID
	}
	return all, nil
}

// once drops events that are both on their way into the database and there.
func once(all []history.Event) []history.Event {
	type mark struct {
		at    int64
		kind  history.Kind
		key   string
		lease string
	}
	seen := make(map[mark]bool, len(all))
	return slices.DeleteFunc(all, func(e history.Event) bool {
		m := mark{e.At.UnixMilli(), e.Kind, e.Topic, e.LeaseID}
		defer func() { seen[m] = true }()
		return seen[m]
	})
}

func eventOf(e *history.Event) locker.Event {
	return locker.Event{
		Who: locker.Who{Name: e.Name, Reason: e.Reason, Host: e.Host, PID: e.PID}, ID: e.ID, Time: e.At.Truncate(time.Millisecond),
		Kind: locker.EventKind(e.Kind.String()), Key: e.Topic, LeaseID: e.LeaseID, Fence: int64(e.Fence),
		TTL: e.TTL, Waited: e.Waited, Held: e.Held, By: cmp.Or(e.By, e.Detail),
	}
}
