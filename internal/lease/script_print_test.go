package lease_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"legible.sh/mutex/internal/lease"
)

func (p *player) printf(format string, args ...any) {
	p.out.WriteString(strings.TrimRight("  "+fmt.Sprintf(format, args...), " ") + "\n")
}

func (p *player) printOutcome(op lease.Op, o *lease.Outcome) {
	l := &o.Lease
	switch {
	case o.Waiting:
		p.printf("= waiting")
	case o.LeftQueue:
		p.printf("= left the queue")
	case l.Token.IsZero():
	case op == lease.Acquire || op == lease.Check || op == lease.Renew:
		words := []string{"=", nameOf(l.Token), fmt.Sprint("fence=", l.Fence), fmt.Sprint("slot=", l.Slot)}
		words = append(words, fmt.Sprint("capacity=", l.Capacity), "ttl="+l.TTL.String(), "expires="+clock(l.Expires))
		if o.Replayed {
			words = append(words, "(replayed)")
		}
		p.printf("%s", strings.Join(words, " "))
	}
}

func (p *player) printEvent(e *lease.Event) {
	words := []string{"-", e.Kind.String()}
	if e.Durable() {
		words[0] = "*"
	}
	add := func(show bool, format string, args ...any) {
		if show {
			words = append(words, fmt.Sprintf(format, args...))
		}
	}
	add(!e.Token.IsZero(), "%s", nameOf(e.Token))
	add(!e.Key.IsZero(), "key=%s", p.keys[e.Key])
	add(!e.Superseded.IsZero(), "instead of %s", nameOf(e.Superseded))
	add(e.Kind == lease.Granted || e.Ends(), "fence=%d slot=%d", e.Fence, e.Slot)
	add(e.Declares, "declares capacity=%d", e.Capacity)
	add(e.Kind == lease.Granted && !e.Enqueued.IsZero(), "waited since=%s", clock(e.Enqueued))
	add(e.Kind == lease.Granted || e.Kind == lease.Renewed, "expires=%s", clock(e.Expires))
	add(!e.Deadline.IsZero(), "until=%s", clock(e.Deadline))
	add(e.By != "", "by=%s", e.By)
	add(e.Cause != lease.NoCause, "(%v)", e.Cause)
	p.printf("%s", strings.Join(words, " "))
	if e.Cause == lease.TimedOut {
		p.printf("  %s is told: %s", nameOf(e.Token), describe(p.state.TimeoutError(e)))
	}
}

func (p *player) printStatus(st lease.Status) {
	p.printf("= capacity=%d fence=%d", st.Capacity, p.state.Fence())
	for _, h := range st.Holders {
		renewed := ""
		if !h.Renewed.IsZero() {
			renewed = "renewed=" + clock(h.Renewed)
		}
		p.printf("  %s holds fence=%d slot=%d since=%s expires=%s %s",
			h.Who.Name, h.Fence, h.Slot, clock(h.Since), clock(h.Expires), renewed)
	}
	for _, w := range st.Waiters {
		away := ""
		if w.Away {
			away = "(away)"
		}
		p.printf("  %d. %s since=%s %s", w.Position, w.Who.Name, clock(w.Enqueued), away)
	}
}

func (p *player) printDue() {
	if at, ok := p.state.NextDue(); ok {
		p.printf("= %s", clock(at))
	} else {
		p.printf("= never")
	}
}

// describe says all that an error says.
func describe(err error) string {
	var held *lease.HeldError
	if !errors.As(err, &held) {
		return err.Error()
	}
	words := []string{held.Kind.Error() + ":", fmt.Sprint("holders=", held.Holders), fmt.Sprint("waiting=", held.Waiting)}
	words = append(words, "retry-after="+held.RetryAfter.String())
	if held.Position > 0 {
		words = append(words, fmt.Sprint("position=", held.Position))
	}
	return strings.Join(words, " ")
}

func nameOf(t lease.Token) string {
	name := string(slices.DeleteFunc(t[:], func(b byte) bool { return b == 0 }))
	if name == "" {
		return "nobody"
	}
	return name
}

func clock(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return "@" + t.Sub(start).String()
}
