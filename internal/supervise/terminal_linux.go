package supervise

import (
	"fmt"

	"golang.org/x/sys/unix"
)

const (
	getTermios = unix.TCGETS
	setTermios = unix.TCSETS
)

func parentOf(pid int) (int, error) {
	s, ok := readStat(pid)
	if !ok {
		return 0, fmt.Errorf("no process %d", pid)
	}
	return s.ppid, nil
}
