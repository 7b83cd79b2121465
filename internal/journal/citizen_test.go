package journal_test

import (
	"context"
	"errors"
	"strconv"
	"time"

	"legible.sh/mutex/internal/lease"
	"legible.sh/mutex/topicactor"
)

// citizen takes one lease after the other.
type citizen struct {
	town *town
	all  []*promise
}

// promise is what a client knows of a lease it was granted.
type promise struct {
	topic    lease.Topic
	command  lease.Command // of the acquire
	fence    lease.Fence
	must     time.Time // it lives until then
	may      time.Time // and no longer than until then
	leaving  bool      // a release was tried
	released time.Time // and that was answered
}

// live goes on until the server stops.
func (c *citizen) live() {
	for {
		var err error
		if c.town.pick(8) == 0 {
			err = c.giveUp()
		} else if n := len(c.all); n == 0 || c.town.pick(3) == 0 {
			err = c.acquire()
		} else {
			err = c.use(c.all[n-1-c.town.pick(min(n, 3))])
		}
		if errors.Is(err, topicactor.ErrStopped) {
			return
		}
		c.town.pause(800)
	}
}

func (c *citizen) do(topic lease.Topic, command lease.Command) (*topicactor.Answer, error) {
	begun := time.Now()
	answer, err := c.town.registry.Do(context.Background(), topic, &command)
	if waited := time.Since(begun); waited > command.Wait+time.Second {
		c.town.t.Errorf("waited %v for %v: %v", waited, command.Wait, err)
	}
	return answer, err
}

func (c *citizen) token() lease.Token {
	c.town.mu.Lock()
	defer c.town.mu.Unlock()
	c.town.numbers++
	return token(c.town.numbers)
}

func (c *citizen) acquire() error {
	p := &promise{topic: lease.Topic("t" + strconv.Itoa(c.town.pick(7)))}
	p.command = lease.Command{Op: lease.Acquire, Token: c.token(), TTL: time.Duration(1+c.town.pick(8)) * time.Second}
	p.command.Wait = time.Duration(c.town.pick(3)) * time.Second
	if c.town.pick(2) == 0 {
		p.command.Key = lease.KeyOf(p.command.Token.Reveal())
	}
	answer, err := c.do(p.topic, p.command)
	if err != nil {
		return err
	}
	p.fence, p.must, p.may = answer.Lease.Fence, answer.Lease.Expires, answer.Lease.Expires
	c.town.granted(p.topic, p.fence)
	c.all = append(c.all, p)
	return nil
}

// giveUp spends a key that nobody has used: all that is then known of a name, it may be.
func (c *citizen) giveUp() error {
	_, err := c.do(lease.Topic("t"+strconv.Itoa(c.town.pick(7))), lease.Command{Op: lease.GiveUp, Key: lease.KeyOf(c.token().Reveal())})
	return err
}

// use does one thing with a lease, and holds what comes of it to what was promised.
func (c *citizen) use(p *promise) error {
	command := lease.Command{Token: p.command.Token}
	switch c.town.pick(4) {
	case 0:
		command.Op = lease.Release
		p.leaving = p.leaving || time.Now().Before(p.may)
	case 1:
		command.Op, command.TTL = lease.Renew, time.Duration(1+c.town.pick(8))*time.Second
	case 2:
		return c.again(p)
	default:
		command.Op = lease.Check
	}
	begun := time.Now()
	answer, err := c.do(p.topic, command)
	now := time.Now()
	switch {
	case err == nil:
		c.alive(p, begun) // the answer may have waited for the disk
	case errors.Is(err, lease.ErrGone):
		if !p.leaving && now.Before(p.must.Add(-slack)) {
			c.town.t.Errorf("%s, fence %d: gone %v before its time", p.topic, p.fence, p.must.Sub(now))
		}
	}
	end := now.Add(command.TTL)
	switch {
	case command.Op == lease.Release && err == nil:
		p.released = now
	case command.Op == lease.Renew && err == nil:
		p.must, p.may = answer.Lease.Expires, answer.Lease.Expires
	case command.Op == lease.Renew && !errors.Is(err, lease.ErrGone): // nobody knows
		if end.Before(p.must) {
			p.must = end
		}
		if end.After(p.may) {
			p.may = end
		}
	}
	return err
}

// alive is what an answer says that knows the lease.
func (c *citizen) alive(p *promise, now time.Time) {
	if !p.released.IsZero() {
		c.town.t.Errorf("%s, fence %d: lives, and was released", p.topic, p.fence)
	}
	if now.After(p.may.Add(slack)) {
		c.town.t.Errorf("%s, fence %d: lives %v past its time", p.topic, p.fence, now.Sub(p.may))
	}
}

// again repeats an acquire with its key, as if the answer had been lost.
func (c *citizen) again(p *promise) error {
	if p.command.Key.IsZero() {
		return nil
	}
	command, begun := p.command, time.Now()
	command.Token, command.Wait = c.token(), 0
	answer, err := c.do(p.topic, command)
	if !p.released.IsZero() && begun.Sub(p.released) < townKeep-time.Second && err == nil {
		c.town.t.Errorf("%s, fence %d: its key was spent, and is granted fence %d", p.topic, p.fence, answer.Lease.Fence)
	}
	if err != nil {
		return err
	}
	if got := answer.Lease.Fence; answer.Replayed && got == p.fence {
		c.alive(p, begun)
		return nil
	}
	if !p.leaving && begun.Before(p.must.Add(-slack)) {
		c.town.t.Errorf("%s, fence %d: a repeated acquire got fence %d", p.topic, p.fence, answer.Lease.Fence)
	}
	if answer.Replayed { // a later one of this key's
		return nil
	}
	n := &promise{topic: p.topic, command: command, fence: answer.Lease.Fence, must: answer.Lease.Expires, may: answer.Lease.Expires}
	c.town.granted(n.topic, n.fence)
	c.all = append(c.all, n)
	return nil
}
