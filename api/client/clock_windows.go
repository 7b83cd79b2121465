package client

import "golang.org/x/sys/windows"

// bootTime moves in steps of about 16 milliseconds.
func bootTime() instant { return instant(windows.DurationSinceBoot()) }
