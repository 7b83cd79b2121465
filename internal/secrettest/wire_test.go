package secrettest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// wire is one who speaks HTTP.
type wire struct {
	t     *testing.T
	e     *evidence
	url   string
	asked map[string]bool // operations that were answered 200; the test's own goroutine writes it
}

// send sends a request, and gives what came back as others could read it.
func (w *wire) send(method, path, body string, headers ...string) (status int, text string) {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), method, w.url, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	r.URL.Opaque = path // as it stands, however odd
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		}
	}
	a, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		w.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer a.Body.Close()
	b, err := io.ReadAll(a.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	for name, values := range a.Header {
		if name != "Set-Cookie" { // its owner's
			w.e.add("headers of "+method, name+": "+strings.Join(values, ", "))
		}
	}
	return a.StatusCode, string(b)
}

// ask sends a request whose answer is anybody's.
func (w *wire) ask(method, path string, headers ...string) int {
	w.t.Helper()
	status, text := w.send(method, path, "", headers...)
	w.e.add(fmt.Sprintf("the answer %d to %s %.24s", status, method, path), text)
	return status
}

// must asks for an operation of the document, which has to work.
func (w *wire) must(operation, method, path string, headers ...string) {
	w.t.Helper()
	if status := w.ask(method, path, headers...); status != http.StatusOK {
		w.t.Errorf("%s: %s %s: %d", operation, method, path, status)
	}
	w.asked[operation] = true
}

// own asks for an operation whose answer is its owner's: the grant, a renewal or a check, with the lease in it.
func (w *wire) own(operation, method, path string, headers ...string) (lease string) {
	w.t.Helper()
	status, text := w.send(method, path, "", headers...)
	if status != http.StatusOK {
		w.t.Fatalf("%s: %s %s: %d %s", operation, method, path, status, text)
	}
	w.asked[operation] = true
	return w.e.granted(fmt.Sprintf("%s %.24s", operation, path), text)
}

// watch reads a stream until the test ends.
func (w *wire) watch(path string, headers ...string) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url+path, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	if a.StatusCode != http.StatusOK {
		w.t.Fatalf("%s: %s", path, a.Status)
	}
	w.asked["watchTopic"] = true
	done := make(chan struct{})
	go func() { // reads until the stream ends
		defer close(done)
		defer a.Body.Close()
		for b := make([]byte, 4096); ; {
			n, err := a.Body.Read(b)
			w.e.add("the stream of "+path, string(b[:n]))
			if err != nil {
				return
			}
		}
	}()
	w.t.Cleanup(func() { cancel(); <-done })
}

// signIn gives the cookie of a browser that has shown the admin token.
func (w *wire) signIn(token string) (cookie string) {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.url+"/-/sign-in", strings.NewReader(url.Values{"token": {token}}.Encode()))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	a, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer a.Body.Close()
	b, _ := io.ReadAll(a.Body)
	w.e.add("the answer to a sign-in", string(b))
	if len(a.Cookies()) != 1 {
		w.t.Fatalf("sign in: %s, %v", a.Status, a.Cookies())
	}
	c := a.Cookies()[0]
	w.e.secret("a browser's session", c.Value)
	return c.Name + "=" + c.Value
}

// agent is a session of MCP, by whichever way.
func (w *wire) agent(over mcp.Transport) (call func(tool string, args map[string]any) string) {
	w.t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, nil).Connect(w.t.Context(), over, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = session.Close() })
	if id := session.ID(); id != "" {
		w.e.secret("the id of an agent's session", id)
	}
	return func(tool string, args map[string]any) string {
		w.t.Helper()
		r, err := session.CallTool(w.t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
		if err != nil {
			w.t.Fatalf("%s: %v", tool, err)
		}
		var text strings.Builder
		for _, c := range r.Content {
			text.WriteString(c.(*mcp.TextContent).Text)
		}
		b, _ := json.Marshal(r.StructuredContent)
		return text.String() + string(b)
	}
}

// tokenOf sends a bearer token along.
type tokenOf string

func (b tokenOf) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}
