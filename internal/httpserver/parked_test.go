//go:build !race

package httpserver_test

import (
	"io"
	"net"
	"runtime"
	"testing"
)

// TestAParkedRequestSitsOnAShallowStack: thousands may wait, each with the stacks of two goroutines, which grow by
// doubling and do not shrink while they wait. The race detector makes all of them deeper, so it does not see this one.
func TestAParkedRequestSitsOnAShallowStack(t *testing.T) {
	const parked, most = 800, 8 << 10 // bytes; 4 KiB are for the request, 2 KiB for the reader that notices its end
	s := start(t, nil)
	s.acquire(t, "/busy?capacity=1")
	conns := make([]net.Conn, parked)
	before := stacks()
	for i := range conns {
		c, err := net.Dial("tcp", s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := io.WriteString(c, "POST /busy?wait=60 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		conns[i] = c
	}
	eventually(t, "all wait", func() bool { return s.waiting(t, "busy") == parked })
	if got := (stacks() - before) / parked; got > most {
		t.Errorf("a parked request keeps %d bytes of stack, want at most %d", got, most)
	}
}

func stacks() int {
	var m runtime.MemStats
	runtime.GC() // stacks of goroutines that ended
	runtime.ReadMemStats(&m)
	return int(m.StackInuse)
}
