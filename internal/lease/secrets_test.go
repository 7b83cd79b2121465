package lease_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"legible.sh/mutex/internal/lease"
)

// TestTokenHides prints a lease in every way that ends up in a log by accident.
func TestTokenHides(t *testing.T) {
	token, err := lease.ParseToken("d0d1d2d3d4d5d6d7d8d9dadbdcdddedf")
	if err != nil {
		t.Fatal(err)
	}
	s := lease.New(0, time.Minute)
	c := lease.Command{Op: lease.Acquire, Token: token, TTL: time.Minute}
	outcome, events, err := s.Step(&c, start, nil)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for _, value := range []any{token, &token, c, outcome, events, s, map[lease.Token]int{token: 1}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%X", "%d", "%q", "%08b"} {
			fmt.Fprintf(&out, verb+"\n", value)
		}
		slog.New(slog.NewTextHandler(&out, nil)).Info("x", "value", value)
		slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "value", value)
		if err := json.NewEncoder(&out).Encode(value); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range strings.Split(out.String(), "\n") {
		for _, form := range []string{"d0d1", "D0D1", "d0 d1", "208 209", "208,209", "0xd0", "11010000 11010001", "\xd0\xd1", `\xd0\xd1`} {
			if strings.Contains(line, form) {
				t.Errorf("shows the secret: %s", line)
			}
		}
	}
	if !strings.Contains(out.String(), "lease(hidden)") {
		t.Error("says nothing of a lease at all")
	}
}

// TestTokenID: the public name is stable, differs between leases and shows none of the secret.
func TestTokenID(t *testing.T) {
	a, b := lease.Token{1}, lease.Token{2}
	if a.ID() != "d1fe2fd67f7e080e" {
		t.Errorf("the name of a lease has changed to %s: a history that is kept would come apart", a.ID())
	}
	if a.ID() == b.ID() || len(b.ID()) != 16 || strings.Contains(a.Reveal(), a.ID()) {
		t.Errorf("names %s and %s", a.ID(), b.ID())
	}
}

func TestKeyOf(t *testing.T) {
	if !lease.KeyOf("").IsZero() || lease.KeyOf("a").IsZero() || lease.KeyOf("a") == lease.KeyOf("b") {
		t.Error("no key is none, any other is one of its own")
	}
}
