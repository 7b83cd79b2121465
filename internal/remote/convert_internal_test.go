package remote

import (
	"testing"
	"time"
)

// TestSecondsAreReadAsTheyWereWritten: a program that reads the command's JSON sees the server's figures.
func TestSecondsAreReadAsTheyWereWritten(t *testing.T) {
	for ms := range 100_000 {
		if d := time.Duration(ms) * time.Millisecond; duration(float64(ms)/1e3).Seconds() != d.Seconds() {
			t.Fatalf("%v was read as %v", d, duration(float64(ms)/1e3))
		}
	}
}
