package journal_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"legible.sh/mutex/internal/lease"
)

// names drives topics as a registry does: they are retired, used again at once, and made anew with each restart. What a new
// actor knows is the floor, and what the journal recalls.
type names struct {
	w       *world
	chance  *rand.Rand
	live    map[lease.Topic]*topic
	granted map[lease.Topic]lease.Fence // the highest one ever
	floor   lease.Fence
	tokens  int
}

// Whatever becomes of a name, its fences rise, and a restart finds what was there.
func TestNamesComeAndGo(t *testing.T) {
	for seed := range uint64(60) {
		w := newWorld(t)
		w.options.CompactAt = 4 << 10
		w.open()
		n := &names{w: w, chance: rand.New(rand.NewPCG(seed, 7)), live: map[lease.Topic]*topic{}, granted: map[lease.Topic]lease.Fence{}}
		for range 150 {
			n.step()
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
		w.close()
	}
}

func (n *names) step() {
	n.w.clock.pass(time.Duration(n.chance.IntN(4000)) * time.Millisecond)
	name := lease.Topic(fmt.Sprint("t", n.chance.IntN(3)))
	switch n.chance.IntN(12) {
	case 0:
		n.restart()
	case 1, 2, 3:
		n.retire(name)
	default:
		n.use(n.topic(name))
	}
}

// topic gives a name's actor, made anew if it has none.
func (n *names) topic(name lease.Topic) *topic {
	p := n.live[name]
	if p == nil {
		p = &topic{w: n.w, name: name}
		n.begin(p, n.floor)
	}
	return p
}

func (n *names) begin(p *topic, floor lease.Fence) {
	p.state = lease.New(floor, keep)
	for _, e := range n.w.file.Recall(p.name, n.w.clock.now()) {
		p.state.Apply(&e)
	}
	n.live[p.name] = p
}

func (n *names) use(p *topic) {
	n.tokens++
	c := acquire(n.tokens)
	c.TTL = time.Duration(1+n.chance.IntN(20)) * time.Second
	switch n.chance.IntN(4) {
	case 0:
		c = lease.Command{Op: lease.GiveUp, Key: lease.KeyOf(fmt.Sprint(n.chance.IntN(6)))}
	case 1:
		c = lease.Command{Op: lease.Force, By: "test"}
	default:
		c.Capacity = p.state.Capacity()
		if c.Capacity == 0 {
			c.Capacity = 1 + n.chance.IntN(3)
		}
	}
	out, err := p.do(c)
	if fence := out.Lease.Fence; err == nil && c.Op == lease.Acquire && fence > 0 {
		if fence <= n.granted[p.name] {
			n.w.t.Errorf("%s: fence %d granted after %d", p.name, fence, n.granted[p.name])
		}
		n.granted[p.name] = fence
	}
}

// retire reaps a topic as a registry does: one that nothing lives in.
func (n *names) retire(name lease.Topic) {
	p := n.live[name]
	if p == nil {
		return
	}
	if p.must(lease.Command{Op: lease.Look}); !p.state.Idle() {
		return
	}
	delete(n.live, name)
	if p.state.Capacity() > 0 {
		n.floor = max(n.floor, p.state.Fence())
		n.w.file.Floor(name, p.state.Fence())
	}
	if n.chance.IntN(2) == 0 {
		n.use(n.topic(name))
	}
}

// restart starts over with what the journal knows, as a registry does, and compares.
func (n *names) restart() {
	before := map[lease.Topic]string{}
	for name, p := range n.live {
		p.must(lease.Command{Op: lease.Look})
		if !p.state.Idle() {
			before[name] = withoutFence(p)
		}
	}
	n.w.restart()
	n.live, n.floor = map[lease.Topic]*topic{}, n.w.boot.Floor
	for _, name := range n.w.boot.Topics {
		n.begin(&topic{w: n.w, name: name}, 0)
	}
	for name, want := range before {
		if got := withoutFence(n.topic(name)); got != want {
			n.w.t.Errorf("%s: after a restart %s, before %s", name, got, want)
		}
	}
}

// withoutFence leaves out the topic's own fence, which a restart may raise to the floor.
func withoutFence(p *topic) string {
	_, rest, _ := strings.Cut(p.describe(), " capacity ")
	return rest
}
