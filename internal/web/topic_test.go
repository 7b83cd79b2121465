package web_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"legible.sh/mutex/api"
	"legible.sh/mutex/internal/web"
)

func topic(t testing.TB, v web.Topic) string {
	t.Helper()
	v.Base, v.Now = "https://mutex.test", noon
	if v.Status.Topic == "" {
		v.Status.Topic = "deploy:staging"
	}
	v.Status.State = api.TopicStateFree
	if len(v.Status.Holders) > 0 {
		v.Status.State = api.TopicStateHeld
	}
	v.Status.Waiting = len(v.Status.Waiters)
	return render(t, func(b *bytes.Buffer) error { return pages.Topic(b, v) })
}

// held is a topic with one holder of a lease of a minute.
func held(since, renewed time.Duration) web.Topic {
	h := api.Holder{Name: "worker-3", Since: at(since), Expires: at(since - time.Minute), Fence: 42}
	if renewed >= 0 {
		r := at(renewed)
		h.Renewed, h.Expires = &r, at(renewed-time.Minute)
	}
	one := 1
	return web.Topic{Status: api.TopicStatus{Capacity: &one, Holders: []api.Holder{h}}}
}

const never = -1

func TestTopicSaysAtAGlanceWhoHoldsAndWhoWaits(t *testing.T) {
	v := held(3*time.Minute+12*time.Second, 4*time.Second)
	pid := 4711
	h := &v.Status.Holders[0]
	h.Reason, h.Host, h.PID = "release 1.8", "ci-7", &pid
	v.Status.Waiters = []api.Waiter{{Name: "nightly", EnqueuedAt: at(2 * time.Minute), Position: 1, Reason: "rollout"}}
	page := topic(t, v)
	says(t, page, "deploy:staging held", "Held by worker-3 for 3 min 12 s , last renewed 4 s ago. One waits.",
		"release 1.8", "ends in 56 s", "fence 42", "on ci-7, pid 4711", "nightly rollout waiting for 2 min", "alive",
		"https://mutex.test/deploy:staging?ttl=60", "force-release?fence=42")
	if !strings.Contains(page, `data-summary="held by worker-3; 1 waits"`) {
		t.Error("the sentence that is read out is missing")
	}
}

func TestTopicThatNobodyHolds(t *testing.T) {
	says(t, topic(t, web.Topic{}), "free", "Never used, or long ago. Nobody waits.", "Nothing on record.")
	one := 1
	says(t, topic(t, web.Topic{Status: api.TopicStatus{Capacity: &one}}), "Nobody holds it. Nobody waits.")
	says(t, topic(t, web.Topic{Note: "This server keeps no history."}), "This server keeps no history.")
}

func TestTopicOfASemaphore(t *testing.T) {
	v := held(time.Minute, 0)
	four := 4
	v.Status.Capacity = &four
	v.Status.Holders = append(v.Status.Holders, api.Holder{Name: "b", Since: at(time.Hour), Expires: at(-time.Minute), Fence: 9})
	page := topic(t, v)
	says(t, page, "2 of 4 held", "Held longest by b for 1 h")
	if n := strings.Count(page, `viewBox="0 0 10 10"`); n != 4 {
		t.Errorf("%d squares for 4 permits", n)
	}
}

func TestPulse(t *testing.T) {
	usual := func(n int, hold float64) (events []api.HistoryEvent) {
		for range n {
			events = append(events, api.HistoryEvent{Event: api.HistoryEventKindReleased, Held: &hold, Time: at(time.Hour)})
		}
		return events
	}
	for _, c := range []struct {
		name           string
		since, renewed time.Duration
		past           []api.HistoryEvent
		want           string
		recheck        time.Duration // from now; 0: when the lease ends
	}{
		{"granted just now", 10 * time.Second, never, nil, "not renewed yet", 30 * time.Second},
		{"renewed in time", time.Hour, 39 * time.Second, nil, "alive", time.Second},
		{"missed a renewal", time.Hour, 40 * time.Second, nil, "silent", 20 * time.Second},
		{"never renews", 40 * time.Second, never, nil, "silent", 20 * time.Second},
		{"as long as usual", 2 * time.Minute, 0, usual(5, 60), "alive", 40 * time.Second},
		{"soon longer than usual", 170 * time.Second, 0, usual(5, 60), "alive", 10 * time.Second},
		{"much longer than usual", 3 * time.Minute, 0, usual(5, 60), "longer than usual", 40 * time.Second},
		{"too few to know what is usual", 3 * time.Minute, 0, usual(4, 60), "alive", 40 * time.Second},
		{"short, even if it is unusual", 59 * time.Second, 0, usual(5, 0.1), "alive", time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := held(c.since, c.renewed)
			v.Events = c.past
			page := topic(t, v)
			says(t, page, "worker-3 "+c.want)
			if want := `data-recheck="` + string(api.AppendTime(nil, noon.Add(c.recheck))) + `"`; !strings.Contains(page, want) {
				t.Errorf("no %s", want)
			}
		})
	}
}

func TestTopicTellsWhatHappened(t *testing.T) {
	waited, held := 3.5, 132.0
	page := topic(t, web.Topic{Events: []api.HistoryEvent{
		{Event: api.HistoryEventKindForceReleased, Time: at(time.Second), Name: "w", Fence: 3, Held: &held, By: "alice (wedged)"},
		{Event: api.HistoryEventKindExpired, Time: at(time.Minute), Name: "w", Fence: 2, Held: &held},
		{Event: api.HistoryEventKindAcquired, Time: at(24 * time.Hour), Name: "w", Fence: 2, Waited: &waited, Reason: "why"},
	}})
	says(t, page, "11:59:59 forced w by alice (wedged) 3 held for 2 min 12 s", "11:59:00 expired w 2 held for 2 min 12 s",
		"2026-02-28 12:00:00 granted w why 2 after waiting 3.5 s")
}

func TestALongQueueIsCutShort(t *testing.T) {
	v := held(0, never)
	for i := range 1024 {
		v.Status.Waiters = append(v.Status.Waiters, api.Waiter{Name: fmt.Sprint("w", i+1), EnqueuedAt: at(0), Position: i + 1})
	}
	page := topic(t, v)
	says(t, page, "1024 wait.", "w100", "and 924 more")
	saysNot(t, page, "w101")
}
