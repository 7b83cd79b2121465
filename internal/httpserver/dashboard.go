package httpserver

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"legible.sh/mutex/api"
	"legible.sh/mutex/internal/web"
)

// Overviews tells how all topics went. Its errors wrap ErrHistory.
type Overviews interface {
	Overview(ctx context.Context, since time.Time) (*web.Past, error)
}

// GetDashboard shows all topics on one page, to the admin.
func (s *Server) GetDashboard(w http.ResponseWriter, r *http.Request) {
	varies(w.Header())
	if err := s.adminOrSession(r); err != nil {
		if preferred(r.Header["Accept"], typeJSON, typeHTML) == typeHTML {
			s.signInPage(w, r, err, "")
		} else {
			s.fail(w, r, err)
		}
		return
	}
	rows, err := s.rows(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	d := web.Dashboard{Now: time.Now(), Topics: rows, Choice: web.ParseChoice(r.URL.Query())}
	d.Past, d.Note = s.past(r.Context(), d.Choice.Span)
	s.page(w, r, func(b *buffer) error { return s.options.Pages.Dashboard(b, d) })
}

// rows are all topics.
func (s *Server) rows(r *http.Request) ([]web.Row, error) {
	all, err := s.options.Registry.List(r.Context(), "")
	if err != nil {
		return nil, err
	}
	rows := make([]web.Row, len(all))
	for i := range all {
		st := &all[i].Status
		rows[i].TopicSummary = apiSummary(all[i].Topic, st)
		for j := range st.Waiters { // by position, which is not always by time
			if w := &st.Waiters[j]; rows[i].Queued == nil || w.Enqueued.Before(rows[i].Queued.Time) {
				rows[i].Queued = &api.Time{Time: w.Enqueued}
			}
		}
	}
	return rows, nil
}

// What a dashboard says in place of its charts.
const (
	noteOff  = "This server keeps no history."
	noteFail = "The history cannot be read now. The locks do not care."
	noteSlow = "The history takes longer to read than a page should. Choose a shorter span."
)

// past gives what the history has to say, or why it says nothing.
func (s *Server) past(ctx context.Context, span time.Duration) (*web.Past, string) {
	if s.options.Overviews == nil {
		return nil, noteOff
	}
	past, err := s.pasts.get(ctx, s.options.Overviews, span)
	switch {
	case err == nil:
		return past, ""
	case errors.Is(err, context.DeadlineExceeded):
		return nil, noteSlow
	}
	return nil, noteFail
}

const (
	overviewPatience = 4 * time.Second // for one overview
	overviewFresh    = 5 * time.Second // how long one is good for, at least
	overviewShare    = 10              // and at least so many times as long as it took: at most a tenth of a core
)

// pasts keeps overviews for a moment: each may have to look at every event there is, and every open dashboard asks for
// one every few seconds.
type pasts struct {
	mu   sync.Mutex // held while one is read, so that one reader reads for all
	kept map[time.Duration]keptPast
}

type keptPast struct {
	past  *web.Past
	err   error
	until time.Time
}

func (p *pasts) get(ctx context.Context, from Overviews, span time.Duration) (*web.Past, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	start := time.Now()
	if k, ok := p.kept[span]; ok && start.Before(k.until) {
		return k.past, k.err
	}
	limited, cancel := context.WithTimeout(ctx, overviewPatience)
	defer cancel()
	past, err := from.Overview(limited, start.Add(-span))
	if ctx.Err() != nil {
		return past, err // it says nothing about the history that this reader has left
	}
	if p.kept == nil {
		p.kept = make(map[time.Duration]keptPast)
	}
	took := time.Since(start)
	p.kept[span] = keptPast{past, err, start.Add(max(overviewFresh, took*overviewShare))}
	return past, err
}
