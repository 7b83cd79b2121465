package httpserver

import (
	"context"
	"net"
	"sync/atomic"

	"legible.sh/mutex/internal/lease"
)

// A client without an Idempotency-Key that vanishes while its grant is on the way would leave a lease that nobody
// knows of. While a request is parked, net/http notices the end of the connection and the handler abandons it. What is
// left is the moment after: the answer was written, and the client had hung up before it came. TCP knows (the answer
// was met by a reset, or by a FIN that does not acknowledge it), so the connection asks when it is closed.

// Listen gives the connections that l accepts the memory of their last grant. The server's ConnContext must be
// [ConnContext].
func Listen(l net.Listener) net.Listener { return listener{l} }

type listener struct{ net.Listener }

func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c}, nil
}

// conn is a connection that remembers the last grant written to it. Its goroutine in net/http reads and closes it,
// and runs the handler in between; the reader in the background never reads while the handler stores.
type conn struct {
	net.Conn
	last atomic.Pointer[delivery]
}

// delivery is a grant on its way to a client that could not ask for it again.
type delivery struct {
	server *Server
	topic  lease.Topic
	token  lease.Token
}

// Read forgets the grant when the client goes on talking: it has it.
func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.last.Store(nil)
	}
	return n, err
}

// Close takes the last grant back if the client never got it.
func (c *conn) Close() error {
	if d := c.last.Swap(nil); d != nil && undelivered(c.Conn) {
		d.server.takeBack(d.topic, d.token)
	}
	return c.Conn.Close()
}

type connKey struct{}

// ConnContext lets handlers reach the connection.
func ConnContext(ctx context.Context, c net.Conn) context.Context {
	if t, ok := c.(interface{ NetConn() net.Conn }); ok { // TLS
		c = t.NetConn()
	}
	if own, ok := c.(*conn); ok {
		return context.WithValue(ctx, connKey{}, own)
	}
	return ctx
}

// delivering remembers a grant until the client shows that it has it.
func (s *Server) delivering(ctx context.Context, topic lease.Topic, token lease.Token) {
	if c, ok := ctx.Value(connKey{}).(*conn); ok {
		c.last.Store(&delivery{s, topic, token})
	}
}
