package bench

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// process is another process's pid; 0 is none.
type process int

// tick is the unit of CPU time in /proc, the same on every Linux that Go runs on.
const tick = 10 * time.Millisecond

// cpu is the time the process has run so far, in user and kernel mode.
func (p process) cpu() (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p))
	if err != nil {
		return 0, fmt.Errorf("cpu of %d: %w", p, err)
	}
	// The second field is the program's name in brackets, which may hold anything.
	rest := stat[bytes.LastIndexByte(stat, ')')+1:]
	fields := strings.Fields(string(rest)) // state is the first of these, utime and stime are the 12th and 13th
	if len(fields) < 13 {
		return 0, fmt.Errorf("cpu of %d: /proc has too few fields", p)
	}
	user, err := strconv.ParseInt(fields[11], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("cpu of %d: %w", p, err)
	}
	system, err := strconv.ParseInt(fields[12], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("cpu of %d: %w", p, err)
	}
	return time.Duration(user+system) * tick, nil
}

// memory is the process's resident set, in bytes.
func (p process) memory() (int64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p))
	if err != nil {
		return 0, fmt.Errorf("memory of %d: %w", p, err)
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0, fmt.Errorf("memory of %d: /proc does not say", p)
	}
	kib, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("memory of %d: %w", p, err)
	}
	return kib << 10, nil
}
