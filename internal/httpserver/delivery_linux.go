package httpserver

import (
	"net"

	"golang.org/x/sys/unix"
)

// TCP states, as TCP_INFO numbers them.
const (
	tcpClosed    = 7
	tcpCloseWait = 8
)

// undelivered tells whether the peer of a connection that ends cannot have read the last answer: it reset the
// connection, or its FIN came without acknowledging what we sent.
func undelivered(c net.Conn) bool {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return false
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return false
	}
	gone := false
	_ = raw.Control(func(fd uintptr) { // an error means that the connection was closed before
		info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		gone = err == nil && (info.State == tcpClosed || info.State == tcpCloseWait && info.Unacked > 0)
	})
	return gone
}
