package soak_test

import (
	"context"
	"flag"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

var (
	kills = flag.Int("soak.kills", 10, "how often the server is killed")
	seed  = flag.Uint64("soak.seed", 0, "repeats the choices of a run; 0: new ones")
)

const clients = 16

// The server is killed at random moments under the load of 16 clients, and every other time its journal is torn as well:
// no lease that was promised is lost, none that was released lives again, no fence repeats.
func TestKill(t *testing.T) {
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	t.Logf("seed %d", *seed)
	chance := rand.New(rand.NewPCG(*seed, 1))
	data := t.TempDir()
	l := newLedger()
	all := make([]*client, clients)
	for n := range all {
		all[n] = &client{ledger: l, chance: rand.New(rand.NewPCG(*seed, uint64(2+n))), id: n}
	}
	for round := range *kills {
		s := startServer(t, data)
		l.verify(t, s)
		if t.Failed() {
			t.Fatalf("round %d; the server said:\n%s", round, s.log)
		}
		l.tidy()
		underLoad(s, all, time.Duration(20+chance.IntN(400))*time.Millisecond)
		if round%2 == 1 {
			tear(t, data, l, chance)
		}
	}
	s := startServer(t, data)
	l.verify(t, s)
	s.end(t)
	if l.answers < 20**kills {
		t.Errorf("only %d answers: too little load to mean anything", l.answers)
	}
	t.Logf("%d kills, %d answers, %d grants on %d topics", *kills, l.answers, l.grants, len(l.highs))
}

// underLoad lets all clients go, and kills the server after a while.
func underLoad(s *server, all []*client, after time.Duration) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var running sync.WaitGroup
	for _, c := range all {
		c.server = s
		running.Go(func() { c.use(ctx) })
	}
	killed := time.AfterFunc(after, s.kill)
	running.Wait()
	killed.Stop()
	s.kill()
}
