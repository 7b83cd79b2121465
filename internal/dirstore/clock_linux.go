package dirstore

import (
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

func readClock() reading {
	var up, awake unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &up); err != nil {
		return reading{now: time.Now()}
	}
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &awake) // every kernel has it
	return reading{
		now: time.Now(), up: time.Duration(up.Nano()), awake: time.Duration(awake.Nano()), boot: bootID(),
	}
}

// bootID names this boot as this process counts from it: a time namespace has a clock of its own.
var bootID = sync.OnceValue(func() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	boot := strings.TrimSpace(string(id))
	if space, err := os.Readlink("/proc/self/ns/time"); err == nil {
		boot += "/" + space
	}
	return boot
})
