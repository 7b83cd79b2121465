package mcpserver_test

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"legible.sh/mutex/api/client"
	"legible.sh/mutex/internal/app/apptest"
	"legible.sh/mutex/internal/mcpserver"
)

// locks is a whole server of its own, with the settings in environ.
func locks(t *testing.T, environ map[string]string) (url string, c *client.Client) {
	t.Helper()
	all := map[string]string{"MUTEX_ADMIN_TOKEN": "admin-5ecret-0123456789"}
	maps.Copy(all, environ)
	url = apptest.Serve(t, all)
	c, err := client.New(url, client.WithAdminToken(all["MUTEX_ADMIN_TOKEN"]), client.WithToken(all["MUTEX_TOKEN"]))
	if err != nil {
		t.Fatal(err)
	}
	return url, c
}

// agent is a session of the library's own client.
type agent struct {
	t *testing.T
	*mcp.ClientSession
	hangUp func() // on stdio: ends the server's input, as an agent that dies does
}

func connect(t *testing.T, over mcp.Transport) *agent {
	t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, nil).Connect(t.Context(), over, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return &agent{t: t, ClientSession: session}
}

// overHTTP connects to a server's own part.
func overHTTP(t *testing.T, url, token string) *agent {
	t.Helper()
	return connect(t, &mcp.StreamableClientTransport{
		Endpoint: url + "/-/mcp", HTTPClient: &http.Client{Transport: bearer(token)}, MaxRetries: -1,
	})
}

// bearer sends a token with every request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	if b != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+string(b))
	}
	return http.DefaultTransport.RoundTrip(r)
}

// overPipes connects to what "mutex mcp" runs, which ends in the channel.
func overPipes(t *testing.T, c *client.Client) (*agent, context.CancelFunc, <-chan error) {
	t.Helper()
	server := mcpserver.New(mcpserver.Options{
		Dial: func(http.Header) (*client.Client, error) { return c, nil }, Version: "test", Host: "here", PID: 7,
	})
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		err := server.RunStdio(ctx, in, out)
		_ = out.Close() // as the end of a process does
		done <- err
	}()
	t.Cleanup(cancel)
	a := connect(t, &mcp.IOTransport{Reader: fromServer, Writer: toServer})
	a.hangUp = func() { _ = toServer.Close() }
	return a, cancel, done
}

// call uses a tool. What it answers is read into v, unless the tool refused.
func (a *agent) call(tool string, args map[string]any, v any) (text string, refused bool) {
	a.t.Helper()
	r, err := a.CallTool(a.t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		a.t.Fatalf("%s %v: %v", tool, args, err)
	}
	var all []string
	for _, c := range r.Content {
		all = append(all, c.(*mcp.TextContent).Text)
	}
	if !r.IsError && v != nil {
		b, _ := json.Marshal(r.StructuredContent)
		if err := json.Unmarshal(b, v); err != nil {
			a.t.Fatalf("%s: %v in %s", tool, err, b)
		}
	}
	return strings.Join(all, "\n"), r.IsError
}

// must uses a tool that has to work.
func (a *agent) must(tool string, args map[string]any, v any) (text string) {
	a.t.Helper()
	text, refused := a.call(tool, args, v)
	if refused {
		a.t.Fatalf("%s %v: %s", tool, args, text)
	}
	return text
}

// mustNot uses a tool that has to refuse, in words that have all the parts.
func (a *agent) mustNot(tool string, args map[string]any, parts ...string) {
	a.t.Helper()
	text, refused := a.call(tool, args, nil)
	if !refused {
		a.t.Fatalf("%s %v: %s", tool, args, text)
	}
	for _, part := range parts {
		if !strings.Contains(text, part) {
			a.t.Errorf("%s %v says %q, without %q", tool, args, text, part)
		}
	}
}

type args = map[string]any

type grant struct {
	Topic, Name, Lease, Next string
	Fence                    int64
	Slot, Capacity           int
	TTL                      float64
	Kept                     bool
}

// eventually waits for what must come.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("in vain: %s", what)
		}
	}
}

// holders gives the fences of who holds a topic.
func holders(t *testing.T, c *client.Client, topic string) (fences []int64) {
	t.Helper()
	s, err := c.Status(context.WithoutCancel(t.Context()), topic)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range s.Holders {
		fences = append(fences, h.Fence)
	}
	return fences
}
