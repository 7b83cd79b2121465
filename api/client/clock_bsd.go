//go:build unix && !linux

package client

import "golang.org/x/sys/unix"

// bootClock goes on during sleep on macOS.
const bootClock = unix.CLOCK_MONOTONIC
