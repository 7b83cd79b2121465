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

// stateOf asks the kernel.
func stateOf(c net.Conn) (peerState, bool) {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return peerState{}, false
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return peerState{}, false
	}
	var info *unix.TCPInfo
	_ = raw.Control(func(fd uintptr) { // an error means that the connection was closed before
		info, err = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
	})
	if err != nil || info == nil {
		return peerState{}, false
	}
	return peerState{
		ended:        info.State == tcpClosed || info.State == tcpCloseWait,
		reset:        info.State == tcpClosed,
		acknowledged: int64(info.Bytes_acked),
	}, true
}
