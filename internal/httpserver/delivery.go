package httpserver

import (
	"context"
	"net"
	"os"
	"sync/atomic"
	"time"

	"legible.sh/mutex/internal/lease"
)

// A client without an Idempotency-Key that vanishes while its grant is on the way would leave a lease that nobody
// knows of. While a request is parked, net/http notices the end of the connection and the handler abandons it. What is
// left is the moment after: the answer was written, and the client had hung up before it came. TCP knows (the client's
// end came without acknowledging the answer, or a reset came in its place), so the connection asks when it is closed.
//
// A client that has its grant must never lose it by this. A reset long after the answer tells nothing about it: proxies
// end idle connections that way.

// doubt is how long after a grant a reset still means that the client did not read it.
const doubt = time.Second

// conn is a connection that remembers the last grant written to it. Its goroutine in net/http reads and closes it,
// and runs the handler in between; the reader in the background never reads while the handler stores.
type conn struct {
	net.Conn
	home      *Listener
	deadlines deadlines
	heard     bool // something came; only who reads looks at it
	last      atomic.Pointer[delivery]
	secure    atomic.Bool  // under TLS
	sent      atomic.Int64 // bytes
	before    atomic.Int64 // sent before the last write
	broken    atomic.Bool  // the last write failed
}

// delivery is a grant on its way to a client that could not ask for it again.
type delivery struct {
	server *Server
	topic  lease.Topic
	token  lease.Token
	at     time.Time
}

// Read forgets the grant when the client goes on talking: it has it. Under TLS a goodbye cannot be told from a request
// here, so one who gives up with a goodbye while its answer is on the way keeps a lease that it does not know of, until
// its ttl is over. That is the safer mistake: nearly all who say goodbye have read their answer.
func (c *conn) Read(b []byte) (n int, err error) {
	if !c.deadlines.wait(&c.deadlines.read) {
		return 0, os.ErrDeadlineExceeded
	}
	for {
		n, err = c.Conn.Read(b)
		if !c.deadlines.again(&c.deadlines.read, err, c.Conn.SetReadDeadline) {
			break
		}
	}
	if n > 0 {
		c.last.Store(nil)
		if !c.heard {
			c.heard = true
			c.home.forget(c)
		}
	}
	return n, err
}

// Write counts.
func (c *conn) Write(b []byte) (n int, err error) {
	if !c.deadlines.wait(&c.deadlines.write) {
		return 0, os.ErrDeadlineExceeded
	}
	for {
		var more int
		more, err = c.Conn.Write(b[n:])
		n += more
		if !c.deadlines.again(&c.deadlines.write, err, c.Conn.SetWriteDeadline) {
			break
		}
	}
	c.before.Store(c.sent.Load())
	c.sent.Add(int64(n))
	c.broken.Store(err != nil)
	return n, err
}

// Close takes the last grant back if the client never got it.
func (c *conn) Close() error {
	if d := c.last.Swap(nil); d != nil && c.undelivered(time.Since(d.at)) {
		d.server.takeBack(d.topic, d.token)
	}
	c.home.forget(c)
	return c.Conn.Close()
}

// undelivered tells whether the peer of a connection that ends cannot have read the answer that was written so long ago.
func (c *conn) undelivered(age time.Duration) bool {
	state, ok := stateOf(c.Conn)
	if !ok || !state.ended {
		return false
	}
	// TLS has just said goodbye. One who read its grant and hung up did not acknowledge that, and may have met it with a
	// reset; only a reset that came before, so that the goodbye could not be written, tells something.
	answered, telling := c.sent.Load(), true
	if c.secure.Load() {
		answered, telling = c.before.Load(), c.broken.Load()
	}
	if state.reset && age < doubt {
		return telling
	}
	return state.acknowledged < answered // a reset may come without what it acknowledges, but not so much later
}

// peerState is what TCP knows of a connection's other end.
type peerState struct {
	ended        bool  // it sends no more
	reset        bool  // it said so with a reset
	acknowledged int64 // bytes of ours
}

type connKey struct{}

// ConnContext lets handlers reach the connection.
func ConnContext(ctx context.Context, c net.Conn) context.Context {
	if t, ok := c.(interface{ NetConn() net.Conn }); ok { // TLS
		c = t.NetConn()
		if own, ok := c.(*conn); ok {
			own.secure.Store(true)
		}
	}
	if own, ok := c.(*conn); ok {
		return context.WithValue(ctx, connKey{}, own)
	}
	return ctx
}

// delivering remembers a grant until the client shows that it has it.
func (s *Server) delivering(ctx context.Context, topic lease.Topic, token lease.Token) {
	if c, ok := ctx.Value(connKey{}).(*conn); ok {
		c.last.Store(&delivery{s, topic, token, time.Now()})
	}
}
