package soak_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"time"
)

// ttl is long beside a round, so that what ends does so because somebody ended it.
const ttl = 120 * time.Second

// grant is what an acquire or a renewal answers.
type grant struct {
	Lease   string    `json:"lease"`
	Fence   uint64    `json:"fence"`
	Expires time.Time `json:"expires"`
	Code    string    `json:"code"`
}

func decode(r *http.Response, into any) bool {
	body, err := io.ReadAll(r.Body)
	return err == nil && json.Unmarshal(body, into) == nil
}

// client is one of those who use the server at once. It keeps what it was promised in the ledger.
type client struct {
	server *server
	ledger *ledger
	chance *rand.Rand
	id     int
	calls  int
	held   []*promise
	unsure *attempt // an acquire whose answer is missing
	let    *promise // a lease whose release was not answered
}

// attempt is an acquire with a key, which can be sent again until it is answered.
type attempt struct {
	topic, path string
	key         string
	before      uint64 // the topic's highest fence when it was first sent
}

// use does random things until the context ends or the server no longer answers.
func (c *client) use(ctx context.Context) {
	for ctx.Err() == nil {
		c.calls++
		alive := true
		switch n := c.chance.IntN(10); {
		case c.unsure != nil:
			alive = c.try(ctx, c.unsure)
		case c.let != nil:
			alive = c.release(ctx, c.let)
		case len(c.held) == 0 || n < 3 && len(c.held) < 4:
			alive = c.acquire(ctx)
		case n < 6:
			alive = c.renew(ctx, c.held[c.chance.IntN(len(c.held))])
		default:
			n := c.chance.IntN(len(c.held))
			p := c.held[n]
			c.held = append(c.held[:n], c.held[n+1:]...)
			alive = c.release(ctx, p)
		}
		if !alive {
			return
		}
	}
}

// acquire tries one of the topics that all share, or one of this client's own.
func (c *client) acquire(ctx context.Context) bool {
	topic := fmt.Sprintf("shared-%d", c.chance.IntN(8))
	capacity := 3
	if c.chance.IntN(2) == 0 {
		topic, capacity = fmt.Sprintf("own-%d-%d", c.id, c.chance.IntN(4)), 1
	}
	return c.try(ctx, &attempt{
		topic: topic, path: fmt.Sprintf("/%s?ttl=%g&capacity=%d", topic, ttl.Seconds(), capacity),
		key: fmt.Sprintf("%d-%d-%d", c.id, c.calls, c.chance.Uint64()), before: c.ledger.highest(topic),
	})
}

// try sends an acquire. One that is not answered is sent again when the server is back: the key makes the two one.
func (c *client) try(ctx context.Context, a *attempt) bool {
	var got grant
	status := c.server.call(ctx, "POST", a.path, http.Header{"Idempotency-Key": {a.key}}, &got)
	c.unsure = nil
	switch status {
	case http.StatusOK:
		c.held = append(c.held, c.ledger.granted(a.topic, &got, a.before))
	case http.StatusConflict:
	default:
		c.unsure = a
		return false
	}
	return true
}

func (c *client) renew(ctx context.Context, p *promise) bool {
	var got grant
	status := c.server.call(ctx, "POST", fmt.Sprintf("/%s/-/renew", p.topic), secret(p), &got)
	return c.ledger.renewed(p, status, &got)
}

// release lets go of a lease, once more if it must: without an answer nobody knows what became of it, and one that
// finds nothing then has arrived before.
func (c *client) release(ctx context.Context, p *promise) bool {
	again := c.let != nil
	c.ledger.releasing(p)
	var got grant
	status := c.server.call(ctx, "DELETE", fmt.Sprintf("/%s/-", p.topic), secret(p), &got)
	c.let = nil
	if !c.ledger.released(p, status, again) {
		c.let = p
	}
	return c.let == nil
}

func secret(p *promise) http.Header { return http.Header{"X-Lease": {p.lease}} }

// check asks whether a lease lives.
func (s *server) check(p *promise) (status int, got grant) {
	status = s.call(context.Background(), "GET", fmt.Sprintf("/%s/-", p.topic), secret(p), &got)
	return status, got
}
