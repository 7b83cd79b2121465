package cli_test

import (
	"strings"
	"testing"

	"legible.sh/mutex/internal/locker"
)

// TestNoWordOfAServerReachesTheTerminalRaw: a state and a kind of event are the server's words too, and it may be anybody's.
func TestNoWordOfAServerReachesTheTerminalRaw(t *testing.T) {
	const evil = "held\x1b]0;pwned\a\u202e\u009b31m"
	status := locker.Status{Key: evil, State: evil}
	s := &service{status: status, list: []locker.Status{status}, events: []locker.Event{{Key: evil, Kind: evil, By: evil}}}
	for _, verb := range []string{"status t", "wait t", "list", "history"} {
		r := use(s, onTerminals, strings.Fields(verb)...)
		if r.wants(t, 0); strings.ContainsAny(r.out, "\x1b\a\u202e\u009b") || !strings.Contains(r.out, `held\u001b`) {
			t.Errorf("%s printed %q", verb, r.out)
		}
	}
}
