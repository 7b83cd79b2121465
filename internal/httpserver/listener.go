package httpserver

import (
	"net"
	"sync"
)

// Listener accepts connections that remember their last grant. The server's ConnContext must be [ConnContext]. It also
// knows over which connections nothing has come so far.
type Listener struct {
	net.Listener

	mu     sync.Mutex
	silent map[*conn]struct{} // guarded by mu
}

// Listen accepts on top of l.
func Listen(l net.Listener) *Listener {
	return &Listener{Listener: l, silent: make(map[*conn]struct{})}
}

// Accept waits for the next connection.
func (l *Listener) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: accepted, home: l}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.silent[c] = struct{}{}
	return c, nil
}

// CloseSilent closes the connections over which nothing has come. Browsers open some ahead of need, and net/http waits five
// seconds for their first request before it counts them as idle.
func (l *Listener) CloseSilent() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.silent {
		_ = c.Conn.Close() // its goroutine notices, and ends it in full
	}
}

// forget is for a connection that speaks or ends.
func (l *Listener) forget(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.silent, c)
}
