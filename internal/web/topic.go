package web

import (
	"cmp"
	"io"
	"slices"
	"strings"
	"time"

	"legible.sh/mutex/api"
)

// Topic is what a topic's page shows.
type Topic struct {
	Base   string    // this server's URL as its clients know it, without a slash at the end
	Now    time.Time // by the clock that the status is told by
	Status api.TopicStatus
	Events []api.HistoryEvent // the newest, newest first
	Note   string             // why there are no events, if that is not because nothing happened
}

// Topic writes the page of one topic.
func (p *Pages) Topic(w io.Writer, t Topic) error { return p.topic.Execute(w, newTopicView(t)) }

// topicView is a topic and what follows from it.
type topicView struct {
	Topic
	Root    string
	Holders []holderView
	Usual   time.Duration // how long it is held as a rule; 0: not known
	Recheck time.Time     // when the page should look again if nothing is heard until then; zero: never
}

func newTopicView(t Topic) topicView {
	v := topicView{Topic: t, Root: atRoot, Usual: usualHold(t.Events)}
	for _, h := range t.Status.Holders {
		hv := look(h, t.Now, v.Usual)
		v.Holders = append(v.Holders, hv)
		v.lookAgain(hv.Changes)
		v.lookAgain(hv.Expires.Time)
	}
	return v
}

// lookAgain makes sure that the page looks again at that moment.
func (v *topicView) lookAgain(at time.Time) {
	if at.After(v.Now) && (v.Recheck.IsZero() || at.Before(v.Recheck)) {
		v.Recheck = at
	}
}

// usualHold is the median of the holds that ended, when there are enough to speak of.
func usualHold(events []api.HistoryEvent) time.Duration {
	const enough = 5
	var holds []float64
	for _, e := range events {
		if e.Event == api.HistoryEventKindReleased && e.Held != nil {
			holds = append(holds, *e.Held)
		}
	}
	if len(holds) < enough {
		return 0
	}
	slices.Sort(holds)
	return wireSeconds(holds[len(holds)/2])
}

// Held tells whether anybody holds it.
func (v topicView) Held() bool { return v.Status.State == api.TopicStateHeld }

// Icon is what the browser shows beside the title.
func (v topicView) Icon() string {
	if v.Held() {
		return "held.svg"
	}
	return "free.svg"
}

// State is the state in a word, or in numbers where several may hold.
func (v topicView) State() string {
	if n := cmp.Or(v.capacity(), 1); n > 1 && v.Held() {
		return grouped(len(v.Status.Holders)) + " of " + grouped(n) + " held"
	}
	return string(v.Status.State)
}

func (v topicView) capacity() int {
	if v.Status.Capacity == nil {
		return 0
	}
	return *v.Status.Capacity
}

// Names are those who hold it, by fence.
func (v topicView) Names() []string {
	var all []string
	for _, h := range v.Status.Holders {
		all = append(all, h.Name)
	}
	return all
}

// Summary says it all in a sentence that changes only with the state: it is read out.
func (v topicView) Summary() string {
	var b strings.Builder
	b.WriteString(v.State())
	if v.Held() {
		b.WriteString(" by " + list(v.Names()))
	}
	for _, h := range v.Holders {
		if h.Pulse == silent || h.Pulse == stuck {
			b.WriteString("; " + h.Name + ": " + h.Word())
		}
	}
	switch v.Status.Waiting {
	case 0:
		b.WriteString("; nobody waits")
	case 1:
		b.WriteString("; 1 waits")
	default:
		b.WriteString("; " + grouped(v.Status.Waiting) + " wait")
	}
	return b.String()
}

// Permits are the squares that stand for the permits, true for one that is held; none where that would be no help.
func (v topicView) Permits() []bool {
	const most = 64
	n := max(v.capacity(), 1)
	if n > most {
		return nil
	}
	all := make([]bool, n)
	for i := range min(len(v.Holders), n) {
		all[i] = true
	}
	return all
}

// Oldest is the holder that has held longest, the one a person would ask about first.
func (v topicView) Oldest() *holderView {
	if len(v.Holders) == 0 {
		return nil
	}
	oldest := &v.Holders[0]
	for i := range v.Holders {
		if v.Holders[i].Since.Before(oldest.Since.Time) {
			oldest = &v.Holders[i]
		}
	}
	return oldest
}

// Past are the recent events, told.
func (v topicView) Past() []eventView { return told(v.Events) }

// Queue are the first who wait.
func (v topicView) Queue() []api.Waiter {
	return v.Status.Waiters[:min(len(v.Status.Waiters), maxQueue)]
}

// Unlisted is how many wait beyond those of the queue that are shown.
func (v topicView) Unlisted() int { return v.Status.Waiting - len(v.Queue()) }

// maxQueue is how much of a queue a page shows.
const maxQueue = 100

// Today is the day of the page, which its times do not repeat.
func (v topicView) Today() string { return day(api.Time{Time: v.Now}) }
