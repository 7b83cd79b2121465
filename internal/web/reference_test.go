package web_test

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	mutex "legible.sh/mutex"
)

func TestReferenceHasEverythingOfTheContract(t *testing.T) {
	page := reference(t, nil).Body.String()
	var doc struct {
		Paths      map[string]map[string]json.RawMessage
		Components struct {
			Schemas map[string]struct {
				Enum       []string
				Properties map[string]any
			}
		}
	}
	if err := json.Unmarshal(mutex.SpecJSON, &doc); err != nil {
		t.Fatal(err)
	}
	has := func(want string) {
		t.Helper()
		if !strings.Contains(page, want) {
			t.Errorf("the reference lacks %s", want)
		}
	}
	for path, item := range doc.Paths {
		for method, raw := range item {
			if method == "parameters" {
				continue
			}
			var op struct{ OperationID string }
			if err := json.Unmarshal(raw, &op); err != nil {
				t.Fatal(err)
			}
			has(`<h3 id="` + op.OperationID + `"><span class="method ` + strings.ToUpper(method) + `">` + strings.ToUpper(method) + `</span> <code class="path">` + path + `</code>`)
		}
	}
	for name, s := range doc.Components.Schemas {
		has(`<h3 id="schema-` + name + `">`)
		for _, v := range s.Enum {
			has(`<code>` + v + `</code>`)
		}
		for field := range s.Properties {
			has(`<dt><code>` + field + `</code>`)
		}
	}
	has("0.1 to 3600, default 60")
	has("&#34;fence&#34;: 42,") // an example, indented as the server writes it
}

func TestReferenceLinksLeadSomewhere(t *testing.T) {
	page := reference(t, nil).Body.String()
	ids := make(map[string]int)
	for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		ids[m[1]]++
	}
	for id, n := range ids {
		if n > 1 || id == "" {
			t.Errorf("id %q stands there %d times", id, n)
		}
	}
	for _, m := range regexp.MustCompile(` (?:href="#|for="|aria-labelledby=")([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if ids[m[1]] == 0 {
			t.Errorf("#%s leads nowhere", m[1])
		}
	}
}

func TestReferenceIsSentSmallAndOnce(t *testing.T) {
	plain := reference(t, nil)
	packed := reference(t, http.Header{"Accept-Encoding": {"gzip, br"}})
	if packed.Header().Get("Content-Encoding") != "gzip" || packed.Body.Len() > plain.Body.Len()/4 {
		t.Errorf("%d bytes, packed %d: %v", plain.Body.Len(), packed.Body.Len(), packed.Header())
	}
	z, err := gzip.NewReader(packed.Body)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(z); err != nil || string(b) != plain.Body.String() {
		t.Errorf("unpacked it is another page (%v)", err)
	}
	again := reference(t, http.Header{"If-None-Match": {plain.Header().Get("ETag")}})
	if again.Code != http.StatusNotModified || again.Body.Len() > 0 {
		t.Errorf("asked again: %d, %d bytes", again.Code, again.Body.Len())
	}
}
