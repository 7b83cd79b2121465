package topicactor_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"legible.sh/mutex/internal/lease"
	"legible.sh/mutex/topicactor"
)

// TestTimeAloneEndsEverything: whatever was asked of a topic, however turns were put aside and whichever of them could not
// be stored, once nobody asks any more all leases, waits and keys end by themselves.
func TestTimeAloneEndsEverything(t *testing.T) {
	for seed := range uint64(500) {
		synctest.Test(t, func(t *testing.T) {
			j, open := &journal{}, make(chan struct{})
			close(open)
			config := &topicactor.Config{Keep: 20 * time.Millisecond, Journal: j, Gate: open}
			a := topicactor.Start("t", 0, config)
			chance := rand.New(rand.NewPCG(seed, 0))
			var asked sync.WaitGroup
			for n := range byte(40) {
				time.Sleep(upTo(chance, 4))
				j.set(func(j *journal) { j.misbehave(chance) })
				c := anyCommand(chance, n)
				ctx, cancel := t.Context(), func() {}
				if chance.IntN(2) == 0 {
					ctx, cancel = context.WithTimeout(ctx, upTo(chance, 100))
				}
				asked.Go(func() {
					defer cancel()
					_, _ = a.Do(ctx, &c)
				})
			}
			j.set(func(j *journal) { j.fail = nil })
			time.Sleep(time.Minute) // to look would settle it
			if held, waiting := a.Load(); held+waiting > 0 || !a.Idle() {
				t.Errorf("seed %d: %d hold, %d wait, idle is %t", seed, held, waiting, a.Idle())
			}
			asked.Wait()
			a.Stop()
			config.Wait()
		})
	}
}

func upTo(chance *rand.Rand, n int) time.Duration {
	return time.Duration(chance.IntN(n)) * time.Millisecond
}

// misbehave lets the next turn be late, or those from now on fail.
func (j *journal) misbehave(chance *rand.Rand) {
	if chance.IntN(3) == 0 {
		j.pause = upTo(chance, 5)
	}
	switch chance.IntN(15) {
	case 0:
		j.fail = lease.ErrStorage
	case 1, 2, 3, 4, 5:
		j.fail = nil
	}
}

// anyCommand gives the nth of many, which use a few tickets and each other's leases.
func anyCommand(chance *rand.Rand, n byte) lease.Command {
	key := lease.KeyOf([]string{"a", "b", "c"}[chance.IntN(3)])
	one := token(byte(chance.IntN(int(n) + 1)))
	switch chance.IntN(6) {
	case 0:
		return lease.Command{Op: lease.Release, Token: one}
	case 1:
		return lease.Command{Op: lease.Renew, Token: one, TTL: upTo(chance, 10)}
	case 2:
		return lease.Command{Op: lease.GiveUp, Key: key}
	}
	c := acquire(n+1, upTo(chance, 60))
	c.TTL, c.Capacity = time.Millisecond+upTo(chance, 20), 2
	if chance.IntN(3) == 0 {
		c.Key = key
	}
	return c
}
