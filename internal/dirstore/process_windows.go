package dirstore

import (
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/windows"
)

func describeSelf() process { return process{Boot: bootID(), PID: os.Getpid()} }

// probe looks at a process.
func probe(pid int) (start string, state life) {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if errors.Is(err, windows.ERROR_INVALID_PARAMETER) {
		return "", dead
	}
	if err != nil {
		return "", alive
	}
	defer func() { _ = windows.CloseHandle(h) }()
	var code uint32
	const stillActive = 259
	if windows.GetExitCodeProcess(h, &code) == nil && code != stillActive {
		return "", dead
	}
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(h, &created, &exited, &kernel, &user); err != nil {
		return "", alive
	}
	return strconv.FormatInt(created.Nanoseconds(), 10), alive
}

// watch is left to polling here.
func (process) watch() (ended <-chan struct{}, stop func()) { return nil, func() {} }
