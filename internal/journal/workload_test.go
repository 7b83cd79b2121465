package journal_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"legible.sh/mutex/internal/lease"
)

// workload drives a few topics at random through one journal, and remembers what was acknowledged.
type workload struct {
	w      *world
	chance *rand.Rand
	topics []*subject
	tokens int
	floor  lease.Fence // acknowledged
}

// subject is a topic under test.
type subject struct {
	*topic
	safe    []lease.Event // acknowledged, since it was last retired
	unsure  []lease.Event // of the append that failed: any part of it may be there
	retired bool          // it may be there or not: its retirement is not acknowledged yet, or what it had to say after that
	held    []lease.Token
}

func newWorkload(w *world, seed uint64) *workload {
	l := &workload{w: w, chance: rand.New(rand.NewPCG(seed, 1))}
	for _, name := range []lease.Topic{"a", "b:b", "c"} {
		l.topics = append(l.topics, &subject{topic: w.topic(name)})
	}
	return l
}

// run does n random things, or fewer if the journal gives up.
func (l *workload) run(n int) error {
	for range n {
		l.w.clock.pass(time.Duration(l.chance.IntN(3000)) * time.Millisecond)
		s := l.topics[l.chance.IntN(len(l.topics))]
		if l.chance.IntN(12) == 0 && s.state.Idle() && s.state.Capacity() > 0 {
			if err := l.retire(s); err != nil {
				return err
			}
			continue
		}
		if err := l.step(s, l.command(s)); err != nil {
			return err
		}
	}
	return nil
}

func (l *workload) command(s *subject) lease.Command {
	l.tokens++
	key := lease.KeyOf(fmt.Sprint("key", l.chance.IntN(8)))
	who := lease.Who{Name: fmt.Sprint("name", l.tokens)}
	pick := func() lease.Token {
		if len(s.held) == 0 {
			return token(0)
		}
		return s.held[l.chance.IntN(len(s.held))]
	}
	switch l.chance.IntN(8) {
	case 0, 1, 2:
		s.held = append(s.held, token(l.tokens))
		return lease.Command{Op: lease.Acquire, Token: token(l.tokens), TTL: time.Duration(1+l.chance.IntN(20)) * time.Second, Who: who}
	case 3:
		s.held = append(s.held, token(l.tokens))
		return lease.Command{Op: lease.Acquire, Token: token(l.tokens), TTL: 10 * time.Second, TTLOmitted: true, Wait: time.Hour, Key: key, Who: who}
	case 4:
		return lease.Command{Op: lease.Renew, Token: pick(), TTL: time.Duration(1+l.chance.IntN(20)) * time.Second}
	case 5, 6:
		return lease.Command{Op: lease.Release, Token: pick()}
	}
	return lease.Command{Op: lease.GiveUp, Key: key}
}

// step runs a command as an actor would, and remembers what became of it.
func (l *workload) step(s *subject, c lease.Command) error {
	_, events, _ := s.state.Step(&c, l.w.clock.now(), nil)
	if err := l.w.file.Append(s.name, events); err != nil {
		s.unsure = durable(events)
		s.rebuild()
		return err
	}
	s.safe = append(s.safe, durable(events)...)
	if s.state.Fence() > 0 && len(durable(events)) > 0 {
		s.retired = false
	}
	return nil
}

// retire reaps a topic; another's append behind it makes that safe.
func (l *workload) retire(s *subject) error {
	fence := s.state.Fence()
	l.w.file.Floor(s.name, fence)
	before := s.safe
	s.safe, s.retired, s.held = nil, true, nil
	s.state = lease.New(max(l.floor, fence), keep)
	s.safe = []lease.Event{{Kind: lease.Declared, Capacity: 1, Fence: max(l.floor, fence)}}
	if err := l.w.file.Append("other", s.safe); err != nil {
		s.safe = before
		s.unsure = nil
		return err
	}
	s.retired = false
	l.floor = max(l.floor, fence)
	if err := l.w.file.Append(s.name, s.safe); err != nil {
		s.retired = true // that is acknowledged, and this may be there or not
		return err
	}
	s.state.Apply(&s.safe[0])
	return nil
}

func durable(events []lease.Event) (out []lease.Event) {
	for _, e := range events {
		if e.Durable() {
			out = append(out, e)
		}
	}
	return out
}

// check compares what a restart found with what was acknowledged.
func (l *workload) check(t *testing.T) {
	t.Helper()
	if l.w.boot.Floor < l.floor {
		t.Errorf("floor %d, acknowledged %d", l.w.boot.Floor, l.floor)
	}
	now := l.w.clock.now()
	for _, s := range l.topics {
		got := l.w.topic(s.name).state
		got.Settle(now, nil)
		if s.retired && got.Capacity() == 0 {
			continue
		}
		var allowed []string
		for n := 0; n <= len(s.unsure); n++ {
			want := lease.New(0, keep)
			for _, e := range append(s.safe[:len(s.safe):len(s.safe)], s.unsure[:n]...) {
				away(&e, now)
				want.Apply(&e)
			}
			want.Settle(now, nil)
			allowed = append(allowed, describe(want))
		}
		if !contains(allowed, describe(got)) {
			t.Errorf("topic %s: found\n%s\nwhich is none of\n%q", s.name, describe(got), allowed)
		}
	}
}

// away makes an event what a restart makes of it: nobody is at a place.
func away(e *lease.Event, now time.Time) {
	if e.Kind == lease.Enqueued {
		e.Token, e.Deadline = lease.Token{}, now.Add(keep)
	}
}

func contains(all []string, s string) bool {
	for _, a := range all {
		if a == s {
			return true
		}
	}
	return false
}
