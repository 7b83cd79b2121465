package httpserver

import (
	"testing"
	"time"
)

// TestSecondsAreRoundedOnce: time.Duration.Seconds adds two roundings, which a reader of retry_after would see.
func TestSecondsAreRoundedOnce(t *testing.T) {
	for ms := range 100_000 {
		d := time.Duration(ms) * time.Millisecond
		o := newObject(nil)
		o.seconds("s", d)
		back, err := time.ParseDuration(string(o.b[len("{\n  \"s\": "):]) + "s")
		if err != nil || back != d || len(o.b) > len("{\n  \"s\": 99.999") {
			t.Fatalf("%v became %s", d, o.b)
		}
	}
}

// TestSecondsAreReadAsTheyWereWritten: 8.008 is no 8.007999999, neither in the ttl that is granted nor in the answer.
func TestSecondsAreReadAsTheyWereWritten(t *testing.T) {
	for ms := range 100_000 {
		if d := time.Duration(ms) * time.Millisecond; seconds(float64(ms)/1e3) != d {
			t.Fatalf("%v was read as %v", d, seconds(float64(ms)/1e3))
		}
	}
}
