package dirstore

import (
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/windows"
)

func readClock() reading {
	return reading{now: time.Now(), up: windows.DurationSinceBoot(), boot: bootID()}
}

// bootID names a boot by the minute it happened in, the closest to a name that there is. A clock that was set since
// makes it another name, and the wall clock counts: that is the worst that can come of it.
var bootID = sync.OnceValue(func() string {
	return "boot-" + strconv.FormatInt(time.Now().Add(-windows.DurationSinceBoot()).Unix()/60, 10)
})
