package httpserver

import (
	"errors"
	"os"
	"sync"
	"time"
)

// net/http sets half a dozen deadlines in the course of a request, nearly all of them far away and taken back before
// anybody waits. A timer of the runtime for each costs a short request more than the lock that it asks for. So a
// connection only notes what it is told. The runtime hears of a deadline only if it is earlier than what it has; when its
// time comes and more was wanted meanwhile, it is told again.

// deadlines are those of one connection.
type deadlines struct {
	mu          sync.Mutex
	read, write deadline // guarded by mu
}

// deadline is when to stop waiting; the zero time is never.
type deadline struct {
	wanted  time.Time
	armed   time.Time // what the runtime has: while somebody waits, never later than what is wanted
	waiting uint8     // how many read, or write
}

// longAgo is the deadline by which net/http makes somebody give up. No clock shows a moment before it, not even one that
// was never set and counts from 1970.
var longAgo = time.Unix(1, 0)

// gaveUp tells it from others without a look at the clock.
func gaveUp(t time.Time) bool { return !t.IsZero() && !t.After(longAgo) }

// sooner tells whether a deadline comes first.
func sooner(t, than time.Time) bool { return !t.IsZero() && (than.IsZero() || t.Before(than)) }

func (d *deadline) isOver() bool { return !d.wanted.IsZero() && !d.wanted.After(time.Now()) }

// until sets a deadline, for whoever waits already too. The runtime is told with arm: here, and not where somebody reads,
// since that may be deep in a stack of which thousands are kept while their requests wait.
func (l *deadlines) until(d *deadline, t time.Time, arm func(time.Time) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	d.wanted = t
	switch {
	case gaveUp(t) && d.waiting == 0:
		return nil // who comes is told by wait
	case sooner(t, d.armed), gaveUp(d.armed) && !gaveUp(t):
		return d.rearm(arm)
	}
	return nil
}

func (d *deadline) rearm(arm func(time.Time) error) error {
	d.armed = d.wanted
	return arm(d.wanted)
}

// wait notes one more who is going to wait, unless it is time to give up.
func (l *deadlines) wait(d *deadline) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if gaveUp(d.wanted) {
		return false
	}
	d.waiting++
	return true
}

// again tells whether to go on after an error that only means that an earlier deadline than the wanted one has passed.
// Whoever is not to go on waits no longer.
func (l *deadlines) again(d *deadline, err error, arm func(time.Time) error) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if errors.Is(err, os.ErrDeadlineExceeded) && !d.isOver() && d.rearm(arm) == nil {
		return true
	}
	d.waiting--
	return false
}

// SetReadDeadline is for reads from now on, and for one that waits.
func (c *conn) SetReadDeadline(t time.Time) error {
	return c.deadlines.until(&c.deadlines.read, t, c.Conn.SetReadDeadline)
}

// SetWriteDeadline is for writes from now on, and for one that waits.
func (c *conn) SetWriteDeadline(t time.Time) error {
	return c.deadlines.until(&c.deadlines.write, t, c.Conn.SetWriteDeadline)
}

// SetDeadline sets both.
func (c *conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}
