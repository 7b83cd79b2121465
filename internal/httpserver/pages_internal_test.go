package httpserver

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"legible.sh/mutex/internal/web"
)

func TestSessionsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s sessions
		number := s.begin()
		time.Sleep(sessionLife - time.Nanosecond)
		if !s.lives(number) {
			t.Error("it ended early")
		}
		time.Sleep(time.Nanosecond)
		if s.lives(number) {
			t.Error("it lives on after its end")
		}
		if s.lives("") || s.lives("made up") {
			t.Error("a number that was never given lives")
		}
	})
}

func TestThereAreNeverTooManySessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s sessions
		oldest := s.begin()
		time.Sleep(time.Second)
		second := s.begin()
		time.Sleep(time.Second)
		for range maxSessions - 1 {
			s.begin()
		}
		if len(s.ends) != maxSessions || s.lives(oldest) || !s.lives(second) {
			t.Errorf("%d sessions; the oldest lives: %v, the second: %v", len(s.ends), s.lives(oldest), s.lives(second))
		}
	})
}

// reader counts how often it is asked, and takes its time.
type reader struct {
	takes time.Duration
	asked int
}

func (r *reader) Overview(ctx context.Context, since time.Time) (*web.Past, error) {
	r.asked++
	select {
	case <-time.After(r.takes):
		return &web.Past{Since: since}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func TestAnOverviewServesEverybodyForAWhile(t *testing.T) {
	for _, c := range []struct {
		takes, fresh time.Duration
		fails        bool
	}{
		{0, overviewFresh, false},
		{time.Second, overviewShare * time.Second, false},
		{time.Hour, overviewShare * overviewPatience, true}, // even its failure: it cost as much
	} {
		synctest.Test(t, func(t *testing.T) {
			var p pasts
			r := &reader{takes: c.takes}
			start := time.Now()
			ask := func() {
				if _, err := p.get(t.Context(), r, time.Hour); (err != nil) != c.fails {
					t.Errorf("one that takes %v: %v", c.takes, err)
				}
			}
			ask()
			time.Sleep(time.Until(start.Add(c.fresh - time.Nanosecond)))
			ask()
			if r.asked != 1 {
				t.Errorf("one that takes %v was read %d times within %v", c.takes, r.asked, c.fresh)
			}
			time.Sleep(time.Nanosecond)
			ask()
			if r.asked != 2 {
				t.Errorf("one that takes %v was read %d times after %v", c.takes, r.asked, c.fresh)
			}
		})
	}
}

func TestAReaderWhoLeavesSpoilsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p pasts
		r := &reader{takes: time.Second}
		gone, leave := context.WithTimeout(t.Context(), time.Millisecond)
		defer leave()
		if _, err := p.get(gone, r, time.Hour); err == nil {
			t.Error("an answer for one who left")
		}
		if past, err := p.get(t.Context(), r, time.Hour); err != nil || past == nil {
			t.Errorf("the next one: %v", err)
		}
	})
}
