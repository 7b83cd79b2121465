package mcpserver_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestAPageOfAnAllowedOriginHasASession: the library's client from within a browser, which asks first whether it may,
// and keeps from a page what it is not shown.
func TestAPageOfAnAllowedOriginHasASession(t *testing.T) {
	const origin = "https://friend.test"
	for _, allowed := range []string{origin, "*"} {
		url, _ := locks(t, map[string]string{"MUTEX_CORS_ORIGIN": allowed, "MUTEX_TOKEN": userToken})
		p := page{origin: origin, then: bearer("")}
		a := connect(t, &mcp.StreamableClientTransport{
			Endpoint: url + "/-/mcp", HTTPClient: &http.Client{Transport: withToken{p}}, MaxRetries: -1,
		})
		var g grant
		a.must("acquire", args{"topic": "x"}, &g)
		if a.ID() == "" || g.Fence != 1 {
			t.Errorf("%s: session %q, %+v", allowed, a.ID(), g)
		}
		if err := a.Close(); err != nil { // DELETE, which gives x back
			t.Errorf("%s: %v", allowed, err)
		}
		other := connect(t, &mcp.StreamableClientTransport{Endpoint: url + "/-/mcp", HTTPClient: &http.Client{Transport: bearer(userToken)}})
		other.must("acquire", args{"topic": "x"}, &g)
	}
}

// TestAPageOfAnotherOriginHasNone: with one origin allowed, the next is not.
func TestAPageOfAnotherOriginHasNone(t *testing.T) {
	url, _ := locks(t, map[string]string{"MUTEX_CORS_ORIGIN": "https://friend.test"})
	q, _ := http.NewRequest(http.MethodPost, url+"/-/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	q.Header.Set("Content-Type", "application/json")
	_, err := page{origin: "https://evil.test", then: bearer("")}.RoundTrip(q)
	if refused := (*refusal)(nil); !errors.As(err, &refused) {
		t.Errorf("got %v", err)
	}
}

// withToken is what a page sets for itself, so the browser asks for it too.
type withToken struct{ page }

func (w withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+userToken)
	return w.page.RoundTrip(r)
}

// page does as a browser does with what a page of another origin sends: https://fetch.spec.whatwg.org/#http-cors-protocol.
type page struct {
	origin string
	then   http.RoundTripper
}

type refusal struct{ why string }

func (r *refusal) Error() string { return "the browser refuses: " + r.why }

func (p page) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := p.preflight(r); err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Header.Set("Origin", p.origin)
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	a, err := p.then.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if err := p.mayRead(a); err != nil {
		a.Body.Close()
		return nil, err
	}
	shown := list(a.Header.Get("Access-Control-Expose-Headers"))
	for name := range a.Header {
		if name != "Content-Type" && name != "Content-Length" && name != "Cache-Control" && !shown[name] {
			a.Header.Del(name)
		}
	}
	return a, nil
}

// preflight asks whether the method and every header but the harmless ones may be sent.
func (p page) preflight(r *http.Request) error {
	var names []string
	for name := range r.Header {
		if name != "Accept" && name != "User-Agent" && (name != "Content-Type" || r.Header.Get(name) != "text/plain") {
			names = append(names, name)
		}
	}
	q, err := http.NewRequestWithContext(r.Context(), http.MethodOptions, r.URL.String(), nil)
	if err != nil {
		return err
	}
	q.Header.Set("Origin", p.origin)
	q.Header.Set("Access-Control-Request-Method", r.Method)
	q.Header.Set("Access-Control-Request-Headers", strings.ToLower(strings.Join(names, ",")))
	a, err := http.DefaultTransport.RoundTrip(q)
	if err != nil {
		return err
	}
	defer a.Body.Close()
	_, _ = io.Copy(io.Discard, a.Body)
	if err := p.mayRead(a); err != nil {
		return err
	}
	if a.StatusCode/100 != 2 || !list(a.Header.Get("Access-Control-Allow-Methods"))[textproto.CanonicalMIMEHeaderKey(r.Method)] {
		return &refusal{fmt.Sprintf("%s: %s, allowed %q", r.Method, a.Status, a.Header.Get("Access-Control-Allow-Methods"))}
	}
	for _, name := range names {
		if !list(a.Header.Get("Access-Control-Allow-Headers"))[name] {
			return &refusal{"the header " + name}
		}
	}
	return nil
}

func (p page) mayRead(a *http.Response) error {
	if got := a.Header.Get("Access-Control-Allow-Origin"); got != p.origin && got != "*" {
		return &refusal{fmt.Sprintf("%s for origin %q", a.Status, got)}
	}
	return nil
}

// list takes a header's list apart, its words as header names are written.
func list(text string) map[string]bool {
	words := make(map[string]bool)
	for word := range strings.SplitSeq(text, ",") {
		words[textproto.CanonicalMIMEHeaderKey(strings.TrimSpace(word))] = true
	}
	return words
}
