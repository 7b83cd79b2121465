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
