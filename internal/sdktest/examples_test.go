package sdktest_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"testing"

	mutex "legible.sh/mutex"
)

// unreachable are the examples that nobody can ask a healthy server for from outside. The server's own tests break what
// must be broken for them.
var unreachable = []string{
	"NoAdminToken", // a server on loopback makes a token by itself
	"Suspended",    // the disk is full
	"Storage",      // the disk fails
	"Internal",     // a bug
	"EndEvent",     // a stream that falls behind
}

// TestExamples asks a live server for every example of openapi.yaml, and holds the answers to it byte for byte, but for
// times, leases and what depends on them.
func TestExamples(t *testing.T) {
	var document struct {
		Components struct {
			Examples map[string]struct{ Value json.RawMessage }
		}
	}
	if err := json.Unmarshal(mutex.SpecJSON, &document); err != nil {
		t.Fatal(err)
	}
	for name, example := range document.Components.Examples {
		ask := asks[name]
		if ask == nil {
			if !slices.Contains(unreachable, name) {
				t.Errorf("nothing asks for the example %s", name)
			}
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := plain(ask(t))
			if want := plain(asSent(t, example.Value)); got != want {
				t.Errorf("the server answers\n%s\nand the example is\n%s", got, want)
			}
		})
	}
	for name := range asks {
		if _, ok := document.Components.Examples[name]; !ok {
			t.Errorf("openapi.yaml has no example %s any more", name)
		}
	}
}

// asSent puts a value as the server writes it.
func asSent(t *testing.T, value []byte) string {
	t.Helper()
	var text bytes.Buffer
	if err := json.Indent(&text, value, "", "  "); err != nil {
		t.Fatalf("%v in %s", err, value)
	}
	text.WriteByte('\n')
	return text.String()
}

// changing is what no two runs have alike, with what stands for it.
var changing = []struct {
	what *regexp.Regexp
	in   string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`), "TIME"},
	{regexp.MustCompile(`[0-9a-f]{32}`), "LEASE"},
	{regexp.MustCompile(`"lease_id": "[0-9a-f]+"`), `"lease_id": "ID"`},
	{regexp.MustCompile(`"(retry_after|waited|held)": \d+(\.\d{1,3})?\b`), `"$1": SECONDS`},
	{regexp.MustCompile(`"id": \d+`), `"id": NUMBER`},
	{regexp.MustCompile(`before=\d+`), `before=NUMBER`},
	{regexp.MustCompile(`"version": "[^"]+"`), `"version": "VERSION"`},
}

func plain(text string) string {
	for _, c := range changing {
		text = c.what.ReplaceAllString(text, c.in)
	}
	return text
}
