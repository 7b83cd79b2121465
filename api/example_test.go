package api_test

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path"
	"regexp"
	"strings"
	"testing"

	"legible.sh/mutex"
	"legible.sh/mutex/api"
)

// wire renders v as the server does.
func wire(t *testing.T, v any) string {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// types has an empty value of the Go type of every schema that is an answer.
var types = map[string]func() any{
	"ApiError":     func() any { return new(api.APIError) },
	"ForceRelease": func() any { return new(api.ForceRelease) },
	"Grant":        func() any { return new(api.Grant) },
	"Health":       func() any { return new(api.Health) },
	"HistoryPage":  func() any { return new(api.HistoryPage) },
	"LeaseCheck":   func() any { return new(api.LeaseCheck) },
	"PruneResult":  func() any { return new(api.PruneResult) },
	"Release":      func() any { return new(api.Release) },
	"Renewal":      func() any { return new(api.Renewal) },
	"TopicList":    func() any { return new(api.TopicList) },
	"TopicStatus":  func() any { return new(api.TopicStatus) },
}

// TestExamplesAreWhatGoWrites sends every example through the Go type of its
// schema and wants the same bytes back: no field unknown, none out of order,
// none left out, and times with their three decimals.
func TestExamplesAreWhatGoWrites(t *testing.T) {
	var doc struct {
		Components struct {
			Examples map[string]struct{ Value json.RawMessage }
		}
	}
	if err := json.Unmarshal(mutex.SpecJSON, &doc); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for at, op := range operations(load(t)) {
		for status, response := range op.Responses.Map() {
			content := response.Value.Content["application/json"]
			if content == nil || path.Base(content.Schema.Ref) == "Document" {
				continue
			}
			schema := path.Base(content.Schema.Ref)
			if types[schema] == nil {
				t.Errorf("%s %s: no Go type for %s in this test", at, status, schema)
				continue
			}
			seen[schema] = true
			if content.Example != nil {
				t.Errorf("%s %s: the example stands inline, where this test does not see it", at, status)
			}
			for name, example := range content.Examples {
				t.Run(schema+"/"+name, func(t *testing.T) {
					raw := doc.Components.Examples[path.Base(example.Ref)].Value
					roundTrip(t, types[schema](), raw)
				})
			}
		}
	}
	for schema := range types {
		if !seen[schema] {
			t.Errorf("%s is no answer of any operation", schema)
		}
	}
}

func roundTrip(t *testing.T, v any, raw json.RawMessage) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		t.Fatal(err)
	}
	if got, want := wire(t, v), wire(t, raw); got != want {
		t.Errorf("Go writes\n%s\nthe document has\n%s", got, want)
	}
}

// TestRecipeTakesTheGrantApart runs the sed lines of the description on the
// grant of the examples.
func TestRecipeTakesTheGrantApart(t *testing.T) {
	doc := load(t)
	grant, ok := doc.Components.Examples["Grant"].Value.Value.(map[string]any)
	if !ok {
		t.Fatal("no example Grant")
	}
	lines := regexp.MustCompile(`(?m)^(lease|fence)=.*$`).FindAllString(doc.Info.Description, -1)
	script := strings.Join(lines, "\n") + "\n" + `echo "$lease $fence"`
	cmd := exec.Command("sh", "-c", script)
	cmd.Env = append(cmd.Environ(), "grant="+wire(t, ordered(t, grant)))
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(out), grant["lease"].(string)+" 42\n"; got != want {
		t.Errorf("the recipe gives %q, want %q", got, want)
	}
}

// ordered gives a grant in the order of its fields.
func ordered(t *testing.T, grant map[string]any) *api.Grant {
	t.Helper()
	raw, err := json.Marshal(grant)
	if err != nil {
		t.Fatal(err)
	}
	var g api.Grant
	if err := json.Unmarshal(raw, &g); err != nil {
		t.Fatal(err)
	}
	return &g
}
