package lease_test

import (
	"cmp"
	"errors"
	"testing"
	"time"

	"legible.sh/mutex/internal/lease"
)

// refusals are all reasons for a refusal, on a topic that a holds, b and d wait for, and s has left.
var refusals = []struct {
	name    string
	command lease.Command
	want    error
}{
	{"busy", acquireAs("x", "", lease.Command{}), lease.ErrBusy},
	{"busy with a key", acquireAs("x", "kx", lease.Command{}), lease.ErrBusy},
	{"busy, and its own place is waited on", acquireAs("x", "waits", lease.Command{}), lease.ErrBusy},
	{"another capacity", acquireAs("x", "", lease.Command{Capacity: 2}), lease.ErrConflict},
	{"another capacity, ready to wait", acquireAs("x", "kx", lease.Command{Capacity: 2, Wait: ttl}), lease.ErrConflict},
	{"too many waiters", acquireAs("x", "", lease.Command{Wait: ttl, MaxWaiters: 2}), lease.ErrWaitersLimit},
	{"too many waiters with a key", acquireAs("x", "kx", lease.Command{Wait: ttl, MaxWaiters: 2}), lease.ErrWaitersLimit},
	{"spent", acquireAs("x", "spent", lease.Command{Wait: ttl}), lease.ErrKeySpent},
	{"holder with another ttl", acquireAs("x", "holds", lease.Command{TTL: 1}), lease.ErrKeyReused},
	{"holder with another capacity", acquireAs("x", "holds", lease.Command{Capacity: 2}), lease.ErrKeyReused},
	{"waiter with another ttl", acquireAs("x", "waits", lease.Command{TTL: 1, Wait: ttl}), lease.ErrKeyReused},
	{"waiter with another capacity", acquireAs("x", "waits", lease.Command{Capacity: 2, Wait: ttl}), lease.ErrKeyReused},
	{"no token", acquireAs("", "", lease.Command{Wait: ttl}), lease.ErrBadToken},
	{"renew", lease.Command{Op: lease.Renew, Token: tokenOf("x"), TTL: ttl}, lease.ErrGone},
	{"renew what waits", lease.Command{Op: lease.Renew, Token: tokenOf("b"), TTL: ttl}, lease.ErrGone},
	{"renew nothing", lease.Command{Op: lease.Renew, TTL: ttl}, lease.ErrGone},
	{"release", lease.Command{Op: lease.Release, Token: tokenOf("x")}, lease.ErrGone},
	{"release what waits", lease.Command{Op: lease.Release, Token: tokenOf("b")}, lease.ErrGone},
	{"release what was released", lease.Command{Op: lease.Release, Token: tokenOf("s")}, lease.ErrGone},
	{"check", lease.Command{Op: lease.Check, Token: tokenOf("x")}, lease.ErrGone},
}

// acquireAs makes an acquire for a minute unless the command says otherwise.
func acquireAs(token, key string, c lease.Command) lease.Command {
	c.Op, c.Token, c.Key = lease.Acquire, tokenOf(token), lease.KeyOf(key)
	c.TTL = cmp.Or(c.TTL, ttl)
	return c
}

const ttl = time.Minute

// TestRefusalsChangeNothing sends what is refused, for every reason there is, and looks whether anything but the
// answer came of it.
func TestRefusalsChangeNothing(t *testing.T) {
	for _, c := range refusals {
		t.Run(c.name, func(t *testing.T) {
			s := lease.New(0, time.Hour)
			for _, c := range []lease.Command{
				acquireAs("s", "spent", lease.Command{}), {Op: lease.Release, Token: tokenOf("s")},
				acquireAs("a", "holds", lease.Command{}),
				acquireAs("b", "waits", lease.Command{Wait: ttl}),
				acquireAs("d", "", lease.Command{Wait: ttl}),
			} {
				if _, _, err := s.Step(&c, start, nil); err != nil {
					t.Fatal(err)
				}
			}
			before := snapshotOf(s)
			outcome, events, err := s.Step(&c.command, start.Add(time.Second), nil)
			if !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			if len(events) > 0 || outcome != (lease.Outcome{}) || snapshotOf(s) != before {
				t.Errorf("came to %+v by %v\n now: %s\nwas: %s", outcome, events, snapshotOf(s), before)
			}
			if err := s.CheckInvariants(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestErrorsSayWhatTheyAre: the structs are told apart as their kinds, and say the facts in words.
func TestErrorsSayWhatTheyAre(t *testing.T) {
	held := &lease.HeldError{Kind: lease.ErrTimeout, Holders: []string{"a", "b"}, Waiting: 3}
	if !errors.Is(held, lease.ErrTimeout) || errors.Is(held, lease.ErrBusy) {
		t.Error("a timeout is a timeout")
	}
	if want := "not granted within the wait: 2 holding, 3 waiting"; held.Error() != want {
		t.Errorf("got %q, want %q", held, want)
	}
	conflict := &lease.ConflictError{Capacity: 7}
	if !errors.Is(conflict, lease.ErrConflict) || conflict.Error() != "the topic has another capacity: 7" {
		t.Errorf("got %q", conflict)
	}
}
