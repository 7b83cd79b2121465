package supervise

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

func ownProgram() (string, error) { return "/proc/self/exe", nil } // also when the file was replaced meanwhile

func pipe(ends *[2]int) error { return syscall.Pipe2(ends[:], syscall.O_CLOEXEC) }

func setProcessName(name string) {
	text := append([]byte(name), 0)
	_ = unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(&text[0])), 0, 0, 0)
}

// orphan is one process that the command left when this process's parent died.
type orphan struct {
	pid   int
	start uint64
}

func (o orphan) send(sig syscall.Signal) { stat{pid: o.pid, start: o.start}.send(sig) }

// orphans finds what belongs to the command by its group, by its control group, and by the mark in its
// environment, which processes keep when they change their session. Who has left all three is out of reach.
func (order guardOrder) orphans() []orphan {
	inCgroup := order.cgroup().pids()
	mark := []byte(runIDVar + "=" + order.RunID + "\x00")
	var found []orphan
	for _, s := range processes() {
		if s.zombie || s.pid == os.Getpid() {
			continue
		}
		inGroup := s.group == order.Group && s.session == order.Session
		if inGroup || slices.Contains(inCgroup, s.pid) || marked(s.pid, mark) {
			found = append(found, orphan{s.pid, s.start})
		}
	}
	return found
}

func marked(pid int, mark []byte) bool {
	environ, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	return err == nil && bytes.Contains(environ, mark)
}

func (order guardOrder) cgroup() *cgroup {
	if order.Cgroup == "" {
		return nil
	}
	return &cgroup{path: order.Cgroup, fd: -1}
}

// dispose takes the control group away, as soon as the last of what was killed is out of it.
func (order guardOrder) dispose() {
	if order.Cgroup == "" {
		return
	}
	for range 50 {
		if err := os.Remove(order.Cgroup); !errors.Is(err, syscall.EBUSY) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}
