//go:build !linux

package bench

import (
	"errors"
	"time"
)

// process is another process's pid; 0 is none.
type process int

var errNoProc = errors.New("CPU and memory of another process can only be read on Linux")

func (process) cpu() (time.Duration, error) { return 0, errNoProc }

func (process) memory() (int64, error) { return 0, errNoProc }
