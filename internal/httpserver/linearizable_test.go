package httpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// The histories that concurrent clients see must be those of one lock that does one thing at a time. Answers that are
// lost on the way are part of it: their outcome is unknown, and only "it happened" and "it did not" are allowed.

type lockOp struct {
	kind   string // acquire, release, look
	client int
}

type lockResult struct {
	ok      bool
	unknown bool
	fence   int // granted, or seen held
}

type lockState struct {
	holder int // a client, 0 for none
	fence  int
}

var lockModel = porcupine.NondeterministicModel{
	Init: func() []any { return []any{lockState{}} },
	Step: func(state, input, output any) []any {
		s, op, out := state.(lockState), input.(lockOp), output.(lockResult)
		switch op.kind {
		case "acquire":
			granted := lockState{op.client, s.fence + 1}
			switch {
			case out.ok && s.holder == 0 && out.fence == granted.fence:
				return []any{granted}
			case !out.ok && s.holder != 0:
				return []any{s}
			}
		case "release":
			released := lockState{0, s.fence}
			switch {
			case out.unknown && s.holder == op.client:
				return []any{s, released}
			case out.unknown:
				return []any{s}
			case out.ok && s.holder == op.client:
				return []any{released}
			case !out.ok && s.holder != op.client:
				return []any{s}
			}
		case "look":
			if out.ok == (s.holder != 0) && (!out.ok || out.fence == s.fence) {
				return []any{s}
			}
		}
		return nil
	},
	Equal: func(a, b any) bool { return a == b },
}

// lockClient is one client of one topic; it remembers its lease.
type lockClient struct {
	t      *testing.T
	server *server
	topic  string
	id     int
	random *rand.Rand
	lease  string
	maybe  bool // a release of the lease had an unknown outcome

	mu     *sync.Mutex
	events *[]porcupine.Operation
	began  time.Time
}

func (c *lockClient) record(op lockOp, call time.Time, out lockResult) {
	end := time.Since(c.began)
	if out.unknown {
		end = time.Hour // it may still happen
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	*c.events = append(*c.events, porcupine.Operation{
		ClientId: c.id, Input: op, Call: call.Sub(c.began).Nanoseconds(), Output: out, Return: end.Nanoseconds(),
	})
}

func (c *lockClient) step(i int) {
	call := time.Now()
	switch {
	case c.maybe:
		// Whoever lost the answer to a release asks again, and takes "gone" for released.
		a := c.server.call(c.t, "DELETE", c.topic+"/"+c.lease)
		c.record(lockOp{"release", c.id}, call, lockResult{ok: a.status == 200})
		c.lease, c.maybe = "", false
	case c.lease == "" && c.random.IntN(3) > 0:
		a := c.server.call(c.t, "POST", c.topic+"?ttl=3600", "Idempotency-Key", fmt.Sprintf("%s-%d-%d", c.topic, c.id, i))
		out := lockResult{ok: a.status == 200}
		if !out.ok && a.str("code") != "BUSY" {
			c.t.Errorf("%d %s", a.status, a.text)
		}
		if out.ok {
			c.lease, out.fence = a.str("lease"), int(a.json["fence"].(float64))
		}
		c.record(lockOp{"acquire", c.id}, call, out)
	case c.lease != "" && c.random.IntN(4) == 0:
		c.lost(call)
	case c.lease != "":
		a := c.server.call(c.t, "DELETE", c.topic+"/"+c.lease)
		c.record(lockOp{"release", c.id}, call, lockResult{ok: a.status == 200})
		c.lease = ""
	default:
		a := c.server.call(c.t, "GET", c.topic)
		out := lockResult{ok: a.str("state") == "held"}
		if out.ok {
			out.fence = int(a.json["holders"].([]any)[0].(map[string]any)["fence"].(float64))
		}
		c.record(lockOp{"look", c.id}, call, out)
	}
}

// lost sends a release and hangs up at a random moment.
func (c *lockClient) lost(call time.Time) {
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Duration(c.random.IntN(300))*time.Microsecond)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "DELETE", c.server.URL+c.topic+"/"+c.lease, nil)
	if err != nil {
		c.t.Error(err)
		return
	}
	out := lockResult{unknown: true}
	if res, err := noRedirects.Do(r); err == nil {
		var body map[string]any
		text, err := io.ReadAll(res.Body)
		if err == nil && json.Unmarshal(text, &body) == nil {
			out = lockResult{ok: res.StatusCode == 200}
		}
		res.Body.Close()
	}
	c.record(lockOp{"release", c.id}, call, out)
	if c.maybe = out.unknown; !c.maybe {
		c.lease = ""
	}
}

func TestConcurrentHistoriesAreThoseOfOneLock(t *testing.T) {
	s := start(t, nil)
	const topics, clients, steps = 6, 5, 60
	for topic := range topics {
		var (
			mu     sync.Mutex
			events []porcupine.Operation
			work   sync.WaitGroup
			began  = time.Now()
		)
		for id := range clients {
			c := &lockClient{
				t: t, server: s, topic: fmt.Sprint("/t", topic), id: id + 1,
				random: rand.New(rand.NewPCG(uint64(topic), uint64(id))), mu: &mu, events: &events, began: began,
			}
			work.Go(func() {
				for i := range steps {
					c.step(i)
				}
			})
		}
		work.Wait()
		if result := porcupine.CheckOperationsTimeout(lockModel.ToModel(), events, time.Minute); result != porcupine.Ok {
			t.Errorf("topic %d: %v over %d operations", topic, result, len(events))
		}
	}
}
