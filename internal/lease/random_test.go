package lease_test

import (
	"strconv"
	"time"

	"legible.sh/mutex/internal/lease"
)

// pick gives a number from 0 to n-1: drawn by the property test, read from a fuzzer's bytes.
type pick func(n int) int

func choose[T any](p pick, from ...T) T { return from[p(len(from))] }

// randomWorld begins a history, now and then near the end of the fences or without a keep window.
func randomWorld(p pick) *world {
	floor := choose[lease.Fence](p, 0, 0, 41, lease.MaxFence-8)
	return newWorld(floor, choose(p, 4*time.Second, 4*time.Second, 10*time.Second, 0))
}

// randomStep lets time pass, perhaps, and does one thing. The choices are few, so that they meet: names are used
// again, deadlines coincide. Low numbers come more often from the property test, so the rare things have high ones.
func (w *world) randomStep(p pick) error {
	w.pass(p)
	switch p(32) {
	case 30:
		return w.restart()
	case 29:
		w.suspend(true)
		return nil
	case 26, 27, 28:
		w.suspend(false)
		return w.do(lease.Command{Op: lease.Look})
	case 25:
		return w.crowd(p)
	}
	return w.do(w.randomCommand(p))
}

// crowd makes many ask at once, and some of them leave again.
func (w *world) crowd(p pick) error {
	n, stay := 8+p(40), 1+p(8)
	for range n {
		c := lease.Command{Op: lease.Acquire, TTL: time.Second, TTLOmitted: true, Wait: 10 * time.Second}
		w.name(&c)
		if err := w.do(c); err != nil {
			return err
		}
	}
	for i := range n {
		if i%stay == 0 {
			continue
		}
		if err := w.do(lease.Command{Op: lease.Abandon, Token: tokenNumber(w.serial - i)}); err != nil {
			return err
		}
	}
	return nil
}

// pass moves the clock, often by nothing, often to just before, at or after the next deadline.
func (w *world) pass(p pick) {
	due, ok := w.state.NextDue()
	switch how := p(16); {
	case how < 8:
	case how == 8:
		w.now = w.now.Add(time.Millisecond)
	case how == 9:
		w.now = w.now.Add(time.Second)
	case how == 10:
		w.now = w.now.Add(30 * time.Second)
	case ok && due.After(w.now):
		w.now = due.Add(choose[time.Duration](p, -1, 0, 0, 0, 1) * time.Millisecond)
	}
}

func (w *world) randomCommand(p pick) lease.Command {
	op := choose(p, lease.Acquire, lease.Acquire, lease.Acquire, lease.Acquire, lease.Renew, lease.Release,
		lease.Release, lease.Check, lease.GiveUp, lease.Abandon, lease.Abandon, lease.Force)
	c := lease.Command{Op: op}
	switch op {
	case lease.Acquire:
		w.randomAcquire(p, &c)
	case lease.Renew:
		c.Token, c.TTL = w.token(p), choose[time.Duration](p, 0, 1, 2, 5, 20)*time.Second
	case lease.Release, lease.Check, lease.Abandon:
		c.Token = w.token(p)
	case lease.GiveUp:
		c.Key = randomKey(p)
	case lease.Force:
		c.By, c.Fence = "root", max(w.state.Fence(), 2)-lease.Fence(p(3))
		if p(4) == 0 {
			c.Fence = 0
		}
	}
	return c
}

func (w *world) randomAcquire(p pick, c *lease.Command) {
	w.name(c)
	c.Key = randomKey(p)
	c.TTL, c.TTLOmitted = 5*time.Second, true
	if ttl := choose[time.Duration](p, 0, 0, 0, 1, 2, 5, 20); ttl > 0 {
		c.TTL, c.TTLOmitted = ttl*time.Second, false
	}
	c.Wait = choose[time.Duration](p, 0, 1, 2, 3, 10) * time.Second
	c.Capacity = choose(p, 0, 0, 0, 0, 0, 0, 1, 2, 3, 70)
	c.MaxWaiters = choose(p, 0, 0, 0, 3)
}

// name gives an acquire a token and a name of its own.
func (w *world) name(c *lease.Command) {
	w.serial++
	c.Token = tokenNumber(w.serial)
	c.Who = lease.Who{Name: strconv.Itoa(w.serial)}
	w.made = append([]lease.Token{c.Token}, w.made[:min(len(w.made), 11)]...)
}

func tokenNumber(n int) lease.Token {
	return lease.Token{0: 1, 13: byte(n >> 16), 14: byte(n >> 8), 15: byte(n)}
}

func randomKey(p pick) lease.Key {
	return choose(p, lease.Key{}, lease.Key{}, lease.Key{1}, lease.Key{2}, lease.Key{3}, lease.Key{4})
}

// token is one that was acquired with lately, or one that never was.
func (w *world) token(p pick) lease.Token {
	if i := p(12); i < len(w.made) {
		return w.made[i]
	}
	return lease.Token{0: 2}
}
