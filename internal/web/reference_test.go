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

// contract is what the reference must have in it.
type contract struct {
	Paths      map[string]map[string]json.RawMessage
	Components struct {
		Schemas map[string]struct {
			Enum       []string
			Properties map[string]any
		}
	}
}

// texts are the pieces of markup that the contract's operations, schemas and fields come to.
func (c *contract) texts(t *testing.T) (all []string) {
	t.Helper()
	for path, item := range c.Paths {
		delete(item, "parameters")
		for method, raw := range item {
			var op struct{ OperationID string }
			if err := json.Unmarshal(raw, &op); err != nil {
				t.Fatal(err)
			}
			m := strings.ToUpper(method)
			all = append(all, `<h3 id="`+op.OperationID+`"><span class="method `+m+`">`+m+`</span> <code class="path">`+path+`</code>`)
		}
	}
	for name, s := range c.Components.Schemas {
		all = append(all, `<h3 id="schema-`+name+`">`)
		for _, v := range s.Enum {
			all = append(all, `<code>`+v+`</code>`)
		}
		for field := range s.Properties {
			all = append(all, `<dt><code>`+field+`</code>`)
		}
	}
	return all
}

func TestReferenceHasEverythingOfTheContract(t *testing.T) {
	var c contract
	if err := json.Unmarshal(mutex.SpecJSON, &c); err != nil {
		t.Fatal(err)
	}
	page := reference(t, nil).Body.String()
	example := "&#34;fence&#34;: 42," // indented as the server writes it
	for _, want := range append(c.texts(t), "0.1 to 3600, default 60", example) {
		if !strings.Contains(page, want) {
			t.Errorf("the reference lacks %s", want)
		}
	}
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
