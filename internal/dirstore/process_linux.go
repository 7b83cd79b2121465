package dirstore

import (
	"bytes"
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

func describeSelf() process {
	p := process{Boot: bootID(), PID: os.Getpid()}
	space, err := os.Readlink("/proc/self/ns/pid")
	seen, err2 := os.Readlink("/proc/self")
	if err != nil || err2 != nil || seen != strconv.Itoa(p.PID) {
		p.Boot = "" // /proc is not there, or it shows another namespace's processes
	}
	p.Space = space
	return p
}

// probe looks at a process of this namespace. One that has ended but was not waited for yet is dead.
func probe(pid int) (start string, state life) {
	if errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
		return "", dead
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "", alive // hidden from us, but the kernel knows it
	}
	// The second field is the program's name, in parentheses, and may hold anything: count from its end.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	const stateField, startField = 0, 19
	if len(fields) <= startField {
		return "", alive
	}
	start = string(fields[startField])
	switch fields[stateField][0] {
	case 'Z', 'X':
		return "", dead
	case 'T', 't':
		return start, halted
	}
	return start, alive
}

// watch gives a channel that is closed when the process ends, or nil where the system has no such thing.
// Stop must be called once.
func (p process) watch() (ended <-chan struct{}, stop func()) {
	if p.life() == unknown {
		return nil, func() {}
	}
	fd, err := unix.PidfdOpen(p.PID, unix.PIDFD_NONBLOCK)
	if err != nil {
		return nil, func() {}
	}
	done := make(chan struct{})
	if p.life() == dead { // asked once more, now that the number cannot pass to another unseen
		_ = unix.Close(fd)
		close(done)
		return done, func() {}
	}
	f := os.NewFile(uintptr(fd), "pidfd")
	// The goroutine exists because a pidfd becomes readable and nothing else: it waits for that, or for stop.
	go func() {
		if conn, err := f.SyscallConn(); err == nil && conn.Read(func(fd uintptr) bool { return readable(int(fd)) }) == nil {
			close(done)
		}
	}()
	return done, func() { _ = f.Close() }
}

func readable(fd int) bool {
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
	return err == nil && n > 0
}
