package dirstore

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"time"

	"legible.sh/mutex/internal/lease"
	"legible.sh/mutex/internal/locker"
)

// claim is one request for a key, from its first look to its grant or its end.
type claim struct {
	key    string
	token  locker.Token // the secret, made here
	id     string       // public
	handle lease.Token  // what the rules know it by
	who    lease.Who
	ttl    time.Duration
	wait   time.Duration // 0: not at all; [locker.Forever]
	began  time.Time     // on the process's monotonic clock
	until  time.Time     // when the wait is over, likewise

	place   string  // the file of its place in the queue, while it has one
	granted *holder // once it holds the key
}

// newClaim checks what is asked for.
func (s *Store) newClaim(key string, r locker.Request) (*claim, error) {
	if err := checkKey(key); err != nil {
		return nil, err
	}
	if r.Capacity > 1 {
		return nil, fmt.Errorf("%w: capacity %d: in a directory, one holds a key at a time; leave it out", locker.ErrUsage, r.Capacity)
	}
	var secret lease.Token
	_, _ = rand.Read(secret[:]) // never fails
	c := &claim{
		key: key, token: locker.Token(secret.Reveal()), id: secret.ID(), handle: handleOf(secret.ID()),
		ttl: cmp.Or(r.TTL, DefaultTTL), wait: r.Wait, began: s.clock().now,
	}
	if err := checkTTL(c.ttl); err != nil {
		return nil, err
	}
	const farOff = 100 * 365 * 24 * time.Hour
	c.until = c.began.Add(min(c.wait, farOff))
	if c.wait < 0 {
		c.until = c.began.Add(farOff)
	}
	var err error
	c.who, err = describe(r.Who)
	c.who.Name = cmp.Or(c.who.Name, "anon-"+c.id[:6])
	return c, err
}

func checkTTL(ttl time.Duration) error {
	if ttl < minTTL || ttl > maxTTL {
		return fmt.Errorf("%w: a ttl of %v: it is %v to %v", locker.ErrUsage, ttl, minTTL, maxTTL)
	}
	return nil
}

// describe makes what somebody says about himself fit to be shown.
func describe(w locker.Who) (who lease.Who, err error) {
	who.PID = w.PID
	for _, text := range []struct {
		what string
		from string
		most int
		to   *string
	}{
		{"name", w.Name, lease.MaxNameLength, &who.Name},
		{"reason", w.Reason, lease.MaxReasonLength, &who.Reason},
		{"host", w.Host, lease.MaxHostLength, &who.Host},
	} {
		if *text.to, err = lease.CleanText(text.from, text.most); err != nil {
			return who, fmt.Errorf("%w: the %s: %w", locker.ErrUsage, text.what, err)
		}
	}
	return who, nil
}

// holder is what holder.json says once the claim is granted.
func (c *claim) holder(e *lease.Event, at reading) *holder {
	h := &holder{
		Agent: e.Who.Name, PID: e.Who.PID, Host: e.Who.Host, Reason: e.Who.Reason,
		AcquiredAt: stamp(at.now.Round(0)), Fence: e.Fence, LeaseID: c.id, TokenSHA256: hashOf(c.token),
	}
	h.ends(at, e.Expires, time.Time{}, e.TTL)
	return h
}

// waiter is what the claim's file in the queue says.
func (c *claim) waiter(e *lease.Event, at reading) waiter {
	return waiter{
		Agent: e.Who.Name, PID: e.Who.PID, Host: e.Who.Host, Reason: e.Who.Reason, EnqueuedAt: stamp(e.Enqueued.Round(0)),
		TTLSeconds: e.TTL.Seconds(), LeaseID: c.id, Process: self(), BootMillis: at.up.Milliseconds(), Awake: at.awake.Milliseconds(),
	}
}

func (c *claim) grant() locker.Grant {
	h := c.granted
	return locker.Grant{
		Key: c.key, Token: c.token, Name: h.Agent, Fence: int64(h.Fence), TTL: h.ttl(), Expires: time.Time(h.ExpiresAt),
		Capacity: 1, Holders: []string{h.Agent},
	}
}
