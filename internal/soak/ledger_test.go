package soak_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"
)

// state is what a client knows of a lease of its own.
type state int

const (
	held     state = iota // granted, and nobody has let go of it
	unknown               // a release was sent, and its answer is missing
	released              // a release was answered
)

// promise is one lease that a client was granted.
type promise struct {
	topic   string
	lease   string
	fence   uint64
	state   state
	expires time.Time // as last answered
}

// ledger is what all clients were promised, over all lives of the server.
type ledger struct {
	mu       sync.Mutex
	promises map[string]*promise // by lease
	fences   map[string]map[uint64]string
	highs    map[string]uint64
	wrong    []string
	answers  int
	grants   int
}

func newLedger() *ledger {
	return &ledger{promises: map[string]*promise{}, fences: map[string]map[uint64]string{}, highs: map[string]uint64{}}
}

func (l *ledger) violation(format string, args ...any) {
	l.wrong = append(l.wrong, fmt.Sprintf(format, args...))
}

// highest is the highest fence that was answered on a topic so far.
func (l *ledger) highest(topic string) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.highs[topic]
}

// granted notes a grant. Its fence is one that nobody had, and higher than all that were answered before it was asked for.
func (l *ledger) granted(topic string, g *grant, before uint64) *promise {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.answers++
	l.grants++
	if l.fences[topic] == nil {
		l.fences[topic] = map[uint64]string{}
	}
	if other := l.fences[topic][g.Fence]; other != "" && other != g.Lease {
		l.violation("fence %d of %s was granted twice", g.Fence, topic)
	}
	if g.Fence <= before {
		l.violation("fence %d of %s was granted after %d", g.Fence, topic, before)
	}
	l.fences[topic][g.Fence] = g.Lease
	l.highs[topic] = max(l.highs[topic], g.Fence)
	p := &promise{topic: topic, lease: g.Lease, fence: g.Fence, expires: g.Expires}
	l.promises[g.Lease] = p
	return p
}

func (l *ledger) renewed(p *promise, status int, g *grant) (alive bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.answers++
	switch status {
	case http.StatusOK:
		p.expires = g.Expires
	case http.StatusNotFound:
		l.violation("lease with fence %d of %s was lost: its renewal was refused", p.fence, p.topic)
	}
	return status == http.StatusOK
}

func (l *ledger) releasing(p *promise) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p.state = unknown
}

// released notes the answer to a release; again says that an earlier one may have arrived.
func (l *ledger) released(p *promise, status int, again bool) (known bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.answers++
	switch {
	case status == http.StatusOK || status == http.StatusNotFound && again:
		p.state = released
	case status == http.StatusNotFound:
		l.violation("lease with fence %d of %s was lost: its release found nothing", p.fence, p.topic)
		p.state = released
	}
	return p.state == released
}

// verify asks the server about every lease that was ever promised.
func (l *ledger) verify(t *testing.T, s *server) {
	t.Helper()
	for _, p := range l.promises {
		status, got := s.check(p)
		switch {
		case status != http.StatusOK && status != http.StatusNotFound:
			t.Fatalf("checking a lease: status %d\n%s", status, s.log)
		case p.state == released && status == http.StatusOK:
			l.violation("lease with fence %d of %s was released, and lives again", p.fence, p.topic)
		case p.state == held && status == http.StatusNotFound:
			l.violation("lease with fence %d of %s was lost", p.fence, p.topic)
		case p.state == held && got.Expires.Before(p.expires):
			l.violation("lease with fence %d of %s lives to %v, promised was %v", p.fence, p.topic, got.Expires, p.expires)
		case p.state == unknown && status == http.StatusNotFound:
			p.state = released // it did arrive, and that stays so
		}
	}
	for _, wrong := range l.wrong {
		t.Error(wrong)
	}
}

// tidy forgets leases that ended for good long ago, so that a long run does not ask about them for ever. Their fences
// are kept.
func (l *ledger) tidy() {
	n := 0
	for lease, p := range l.promises {
		if p.state == released {
			if n++; n > 500 {
				delete(l.promises, lease)
			}
		}
	}
}
