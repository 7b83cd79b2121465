package mcpserver

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// memory is a network of one listener: connections are pipes in this process.
type memory struct {
	dialed chan net.Conn
	once   sync.Once
	closed chan struct{} // closed by Close
}

var _ net.Listener = (*memory)(nil)

func newMemory() *memory {
	return &memory{dialed: make(chan net.Conn), closed: make(chan struct{})}
}

// Accept is [net.Listener.Accept].
func (m *memory) Accept() (net.Conn, error) {
	select {
	case c := <-m.dialed:
		return c, nil
	case <-m.closed:
		return nil, net.ErrClosed
	}
}

// Close is [net.Listener.Close].
func (m *memory) Close() error {
	m.once.Do(func() { close(m.closed) })
	return nil
}

// Addr is [net.Listener.Addr].
func (m *memory) Addr() net.Addr { return memoryAddr{} }

type memoryAddr struct{}

func (memoryAddr) Network() string { return "memory" }
func (memoryAddr) String() string  { return "memory" }

func (m *memory) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case m.dialed <- there:
		return here, nil
	case <-m.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// client sends every request over a pipe of its own.
func (m *memory) client() *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: m.dial, DisableKeepAlives: true}}
}
