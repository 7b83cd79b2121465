package dirstore

import (
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

func describeSelf() process { return process{Boot: bootID(), PID: os.Getpid()} }

// probe looks at a process. One that has ended but was not waited for yet is dead.
func probe(pid int) (start string, state life) {
	if errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
		return "", dead
	}
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return "", alive
	}
	const zombie = 5 // SZOMB
	if info.Proc.P_stat == zombie {
		return "", dead
	}
	t := info.Proc.P_starttime
	return strconv.FormatInt(t.Nano(), 10), alive
}

// watch is left to polling here.
func (process) watch() (ended <-chan struct{}, stop func()) { return nil, func() {} }
