package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"legible.sh/mutex/api"
)

// TopicsQuery selects topics; the zero value selects all.
type TopicsQuery struct {
	Prefix string
	State  api.TopicState // "" for any
}

// Topics gives the live topics that q selects, by name. It needs the admin token.
func (c *Client) Topics(ctx context.Context, q TopicsQuery) ([]api.TopicSummary, error) {
	params := api.ListTopicsParams{Prefix: optional(q.Prefix)}
	if q.State != "" {
		params.State = &q.State
	}
	var all []api.TopicSummary
	for {
		page, err := repeat(ctx, c, floor, func(ctx context.Context) (*api.TopicList, error) {
			v, _, err := call[api.TopicList](ctx, c, admin, func(a *api.Client, edit api.RequestEditorFn) (*http.Response, error) {
				return a.ListTopics(ctx, &params, edit)
			})
			return v, err
		})
		if err != nil {
			return nil, err
		}
		all = append(all, page.Topics...)
		after := following(page.Next, "after")
		if after == "" || len(page.Topics) == 0 {
			return all, nil
		}
		params.After = &after
	}
}

// HistoryQuery selects events.
type HistoryQuery struct {
	Since time.Time // zero: as far back as there is
	Limit int       // at most so many; 0 for all
	// Renewals asks for renewals too, which are most of what happens.
	Renewals bool
}

// History gives what happened on a topic, newest first.
func (c *Client) History(ctx context.Context, topic string, q HistoryQuery) ([]api.HistoryEvent, error) {
	if err := checkTopic(topic); err != nil {
		return nil, err
	}
	return c.history(ctx, user, q, func(p api.GetHistoryParams) send {
		return func(a *api.Client, edit api.RequestEditorFn) (*http.Response, error) {
			return a.GetHistory(ctx, topic, &p, edit)
		}
	})
}

// AllHistory gives what happened on all topics, newest first. It needs the admin token.
func (c *Client) AllHistory(ctx context.Context, q HistoryQuery) ([]api.HistoryEvent, error) {
	return c.history(ctx, admin, q, func(p api.GetHistoryParams) send {
		params := &api.ListHistoryParams{Since: p.Since, Before: p.Before, Limit: p.Limit, Renewals: p.Renewals}
		return func(a *api.Client, edit api.RequestEditorFn) (*http.Response, error) {
			return a.ListHistory(ctx, params, edit)
		}
	})
}

// historyPage is how many events one request asks for at most.
const historyPage = 1000

// history asks for one page after the other until q has enough.
func (c *Client) history(ctx context.Context, as role, q HistoryQuery, page func(api.GetHistoryParams) send) ([]api.HistoryEvent, error) {
	params := api.GetHistoryParams{Renewals: &q.Renewals}
	if !q.Since.IsZero() {
		params.Since = &q.Since
	}
	var all []api.HistoryEvent
	for {
		limit := historyPage
		if q.Limit > 0 {
			limit = min(limit, q.Limit-len(all))
		}
		params.Limit = &limit
		v, err := repeat(ctx, c, floor, func(ctx context.Context) (*api.HistoryPage, error) {
			v, _, err := call[api.HistoryPage](ctx, c, as, page(params))
			return v, err
		})
		if err != nil {
			return nil, err
		}
		all = append(all, v.Events...)
		next, err := strconv.ParseInt(following(v.Next, "before"), 10, 64)
		if err != nil || len(v.Events) == 0 || q.Limit > 0 && len(all) >= q.Limit {
			return all, nil
		}
		params.Before = &next
	}
}

// following is a parameter of the request for the next page; "" if this was the last.
func following(next *api.NextRequest, name string) string {
	if next == nil {
		return ""
	}
	u, err := url.Parse(next.Path)
	if err != nil {
		return ""
	}
	return u.Query().Get(name)
}

// Prune retires every topic that nobody holds, awaits or watches. It needs the admin token.
func (c *Client) Prune(ctx context.Context) (*api.PruneResult, error) {
	return repeat(ctx, c, floor, func(ctx context.Context) (*api.PruneResult, error) {
		v, _, err := call[api.PruneResult](ctx, c, admin, func(a *api.Client, edit api.RequestEditorFn) (*http.Response, error) {
			return a.Prune(ctx, edit)
		})
		return v, err
	})
}

// Force says which leases [Client.ForceRelease] ends, and in whose name.
type Force struct {
	Fence  int64 // only the holder with this fence; 0 for all
	DryRun bool  // only say whose
	Name   string
	Reason string
}

// ForceRelease ends leases of others. Its holders are not stopped by this: until their next renewal nothing but
// the fence keeps them from writing. It needs the admin token, and tries only once unless Fence is set, because a
// second try could hit whoever came next.
func (c *Client) ForceRelease(ctx context.Context, topic string, f Force) (*api.ForceRelease, error) {
	if err := checkTopic(topic); err != nil {
		return nil, err
	}
	params := &api.ForceReleaseParams{Name: optional(f.Name), Reason: optional(f.Reason)}
	budget := time.Duration(0)
	if f.Fence != 0 {
		params.Fence, budget = &f.Fence, floor
	}
	if f.DryRun {
		params.DryRun, budget = &f.DryRun, floor
	}
	return repeat(ctx, c, budget, func(ctx context.Context) (*api.ForceRelease, error) {
		v, _, err := call[api.ForceRelease](ctx, c, admin, func(a *api.Client, edit api.RequestEditorFn) (*http.Response, error) {
			return a.ForceRelease(ctx, topic, params, edit)
		})
		return v, err
	})
}
