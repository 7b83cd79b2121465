package mcpserver_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"legible.sh/mutex/api"
	"legible.sh/mutex/api/client"
	"legible.sh/mutex/internal/mcpserver"
)

const (
	userToken  = "user-5ecret-0123456789"
	otherToken = "other-5ecret-0123456789"
)

func TestTokensApplyToTools(t *testing.T) {
	url, c := locks(t, map[string]string{"MUTEX_TOKEN": userToken})
	stranger := overHTTP(t, url, "")
	stranger.must("status", args{"topic": "x"}, nil) // reads stay open
	stranger.mustNot("acquire", args{"topic": "x"}, "Authorization: Bearer")
	wrong := overHTTP(t, url, otherToken)
	wrong.mustNot("acquire", args{"topic": "x", "keep": false}, "Authorization: Bearer")
	if got := holders(t, c, "x"); got != nil {
		t.Errorf("held by %v", got)
	}
	var g grant
	overHTTP(t, url, userToken).must("acquire", args{"topic": "x"}, &g)
	stranger.mustNot("release", args{"topic": "x", "lease": strings.Repeat("0", 32)}, "Authorization: Bearer")
	if got := holders(t, c, "x"); !slices.Equal(got, []int64{g.Fence}) {
		t.Errorf("held by %v", got)
	}
}

// TestTheIDOfASessionIsNotEnough: what was taken with a token is given back with it alone.
func TestTheIDOfASessionIsNotEnough(t *testing.T) {
	url, c := locks(t, map[string]string{"MUTEX_TOKEN": userToken + "," + otherToken})
	token := &changing{bearer: userToken}
	a := connect(t, &mcp.StreamableClientTransport{Endpoint: url + "/-/mcp", HTTPClient: &http.Client{Transport: token}})
	a.must("acquire", args{"topic": "x"}, nil)
	for _, b := range []bearer{"", otherToken} {
		token.bearer = b
		a.mustNot("release", args{"topic": "x"}, "another token")
		a.mustNot("renew", args{"topic": "x"}, "another token")
		a.mustNot("acquire", args{"topic": "x"}, "another token")
		q, _ := http.NewRequest(http.MethodDelete, url+"/-/mcp", nil)
		q.Header.Set("Mcp-Session-Id", a.ID())
		r, err := b.RoundTrip(q)
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if r.StatusCode != http.StatusForbidden {
			t.Errorf("with %q: %s", b, r.Status)
		}
	}
	if got := holders(t, c, "x"); !slices.Equal(got, []int64{1}) {
		t.Errorf("held by %v", got)
	}
	token.bearer = userToken
	a.must("release", args{"topic": "x"}, nil)
}

// changing sends the token of the moment. Only the test's own goroutine changes it, between calls.
type changing struct{ bearer }

func (c *changing) RoundTrip(r *http.Request) (*http.Response, error) { return c.bearer.RoundTrip(r) }

func TestPagesOfOtherOriginsAreRefused(t *testing.T) {
	url, _ := locks(t, nil)
	q, _ := http.NewRequest(http.MethodPost, url+"/-/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Accept", "application/json, text/event-stream")
	q.Header.Set("Origin", "https://evil.test")
	q.Header.Set("Sec-Fetch-Site", "cross-site")
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if b, _ := io.ReadAll(r.Body); r.StatusCode != http.StatusForbidden || !strings.Contains(string(b), "CROSS_ORIGIN") {
		t.Errorf("%s %s", r.Status, b)
	}
}

// TestErrorsAreLikeAllOthers: with code, hint and where to go on, for somebody who came with curl.
func TestErrorsAreLikeAllOthers(t *testing.T) {
	url, _ := locks(t, nil)
	for _, c := range []struct {
		method, session, body string
		status                int
		code                  api.ErrorCode
	}{
		{"GET", "", "", 400, api.ErrorCodeBadParam},
		{"GET", "nonsense", "", 404, api.ErrorCodeNotFound},
		{"DELETE", "nonsense", "", 404, api.ErrorCodeNotFound},
		{"POST", "", "nonsense", 400, api.ErrorCodeBadParam},
	} {
		q, _ := http.NewRequest(c.method, url+"/-/mcp", strings.NewReader(c.body))
		q.Header.Set("Content-Type", "application/json")
		q.Header.Set("Accept", "application/json, text/event-stream")
		if c.session != "" {
			q.Header.Set("Mcp-Session-Id", c.session)
		}
		r, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		var e api.APIError
		err = json.NewDecoder(r.Body).Decode(&e)
		r.Body.Close()
		if err != nil || r.StatusCode != c.status || e.Code != c.code || e.Hint == "" || e.Next == nil || e.Next.Path != "/llms.txt" {
			t.Errorf("%s %q: %s %+v %v", c.method, c.session, r.Status, e, err)
		}
	}
}

// part is the MCP part alone, with a linger of the test's choice, in front of another server's locks.
func part(t *testing.T, o mcpserver.HTTPOptions) (url string, c *client.Client) {
	t.Helper()
	inner, c := locks(t, nil)
	o.Version = "test"
	h := mcpserver.NewHTTP(o)
	h.Serve(context.Background(), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { forward(w, r, inner) }))
	mux := http.NewServeMux()
	mux.Handle("/-/mcp", h)
	server := httptest.NewServer(mux)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return server.URL, c
}

// forward asks another server.
func forward(w http.ResponseWriter, r *http.Request, to string) {
	q, err := http.NewRequestWithContext(r.Context(), r.Method, to+r.URL.RequestURI(), r.Body)
	if err != nil {
		panic(err)
	}
	q.Header = r.Header
	answer, err := http.DefaultTransport.RoundTrip(q)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer answer.Body.Close()
	w.WriteHeader(answer.StatusCode)
	_, _ = io.Copy(w, answer.Body)
}

// TestASessionThatVanishesIsOver: its client never says so, and its lease ends by the ttl, not before.
func TestASessionThatVanishesIsOver(t *testing.T) {
	url, c := part(t, mcpserver.HTTPOptions{Linger: 100 * time.Millisecond})
	session, err := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, nil).Connect(t.Context(),
		&mcp.StreamableClientTransport{Endpoint: url + "/-/mcp", DisableStandaloneSSE: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	a := &agent{t: t, ClientSession: session}
	a.must("acquire", args{"topic": "x", "ttl": 5}, nil)
	eventually(t, "the session is forgotten", func() bool { return status(t, url, session.ID()) == http.StatusNotFound })
	if got := holders(t, c, "x"); !slices.Equal(got, []int64{1}) {
		t.Errorf("what worked under the lease may be working still, but it is held by %v", got)
	}
	for e, err := range c.Watch(t.Context(), "x") {
		if err != nil {
			t.Fatal(err)
		}
		if e.Type == client.EventExpire {
			return
		}
		if e.Type == client.EventRelease || e.Status != nil && e.Status.State == "free" {
			t.Fatalf("it ended by %+v", e)
		}
	}
}

// TestAnOpenStreamKeepsASessionAlive: nothing is asked, for several times the linger.
func TestAnOpenStreamKeepsASessionAlive(t *testing.T) {
	url, c := part(t, mcpserver.HTTPOptions{Linger: 500 * time.Millisecond})
	a := overHTTP(t, url, "")
	a.must("acquire", args{"topic": "x", "ttl": 3}, nil)
	renewals := 0
	for e, err := range c.Watch(t.Context(), "x") {
		if err != nil || e.Type == client.EventExpire {
			t.Fatal(e, err)
		}
		if e.Type == client.EventRenew {
			renewals++
		}
		if renewals == 2 {
			break
		}
	}
	a.must("release", args{"topic": "x"}, nil)
}

func TestSessionsAreCounted(t *testing.T) {
	url, _ := part(t, mcpserver.HTTPOptions{Most: 1})
	first := overHTTP(t, url, "")
	if _, err := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, nil).Connect(t.Context(),
		&mcp.StreamableClientTransport{Endpoint: url + "/-/mcp", MaxRetries: -1}, nil); err == nil {
		t.Fatal("a second session")
	}
	first.must("held", nil, nil)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	overHTTP(t, url, "").must("held", nil, nil)
}

// status is what a message of a session is answered with.
func status(t *testing.T, url, session string) int {
	t.Helper()
	q, err := http.NewRequest(http.MethodPost, url+"/-/mcp", strings.NewReader(`{"jsonrpc":"2.0","method":"notifications/initialized"}`))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Accept", "application/json, text/event-stream")
	q.Header.Set("Mcp-Session-Id", session)
	time.Sleep(150 * time.Millisecond) // asking is a sign of life: ask less often than the linger
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	return r.StatusCode
}
