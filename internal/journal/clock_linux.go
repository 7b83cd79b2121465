package journal

import (
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// ReadClock reads the machine's clocks.
func ReadClock() Reading {
	var up unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &up); err != nil {
		return Reading{Now: time.Now()}
	}
	return Reading{Now: time.Now(), Up: time.Duration(up.Nano()), Boot: bootID()}
}

// bootID names this boot as this process sees it: in a time namespace of its own a process has another Up.
var bootID = sync.OnceValue(func() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	namespace, err := os.Readlink("/proc/self/ns/time")
	if err != nil {
		namespace = ""
	}
	return strings.TrimSpace(string(id)) + "/" + namespace
})
