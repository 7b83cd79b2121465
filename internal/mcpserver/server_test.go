package mcpserver_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"legible.sh/mutex/api/client"
	"legible.sh/mutex/internal/teach"
)

// overBoth runs a test over each transport.
func overBoth(t *testing.T, test func(t *testing.T, a *agent, c *client.Client)) {
	t.Run("stdio", func(t *testing.T) {
		t.Parallel()
		_, c := locks(t, nil)
		a, _, _ := overPipes(t, c)
		test(t, a, c)
	})
	t.Run("http", func(t *testing.T) {
		t.Parallel()
		url, c := locks(t, nil)
		test(t, overHTTP(t, url, ""), c)
	})
}

func TestToolsTeachTheContract(t *testing.T) {
	overBoth(t, func(t *testing.T, a *agent, _ *client.Client) {
		if got := a.InitializeResult().Instructions; got != teach.Instructions() {
			t.Errorf("%q", got)
		}
		list, err := a.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, tool := range list.Tools {
			names = append(names, tool.Name)
			if tool.Name == "acquire" && (!strings.Contains(tool.Description, teach.MCP.Say("fence")) || !strings.Contains(tool.Description, teach.MCP.Say("lost"))) {
				t.Error(tool.Description)
			}
		}
		slices.Sort(names)
		if got := fmt.Sprint(names); got != "[acquire held release renew status wait]" {
			t.Error(got)
		}
	})
}

func TestAcquireConfirmRelease(t *testing.T) {
	overBoth(t, func(t *testing.T, a *agent, c *client.Client) {
		var g grant
		a.must("acquire", args{"topic": "deploy:staging", "reason": "test"}, &g)
		if g.Fence != 1 || !g.Kept || g.Lease != "" || g.Name != "agent" || g.TTL != 60 || !strings.Contains(g.Next, "fence 1") {
			t.Errorf("%+v", g)
		}
		var again grant
		a.must("acquire", args{"topic": "deploy:staging"}, &again)
		if again.Fence != g.Fence || !strings.Contains(again.Next, "has it already") {
			t.Errorf("%+v", again)
		}
		var held struct{ Leases []struct{ Fence int64 } }
		a.must("held", nil, &held)
		if len(held.Leases) != 1 || held.Leases[0].Fence != g.Fence {
			t.Errorf("%+v", held)
		}
		var renewed grant
		if a.must("renew", args{"topic": "deploy:staging"}, &renewed); renewed.Fence != g.Fence {
			t.Errorf("%+v", renewed)
		}
		a.must("release", args{"topic": "deploy:staging"}, nil)
		if got := holders(t, c, "deploy:staging"); got != nil {
			t.Errorf("held by %v", got)
		}
		a.mustNot("release", args{"topic": "deploy:staging"}, "keeps no lease")
		a.mustNot("renew", args{"topic": "deploy:staging"}, "keeps no lease")
	})
}

func TestALeaseOfOnesOwn(t *testing.T) {
	overBoth(t, func(t *testing.T, a *agent, c *client.Client) {
		var g grant
		a.must("acquire", args{"topic": "x", "keep": false, "ttl": 30, "name": "me"}, &g)
		if g.Kept || len(g.Lease) != 32 || g.Name != "me" || !strings.Contains(g.Next, "every 10 s") {
			t.Errorf("%+v", g)
		}
		a.must("renew", args{"topic": "x", "lease": g.Lease}, nil)
		if _, err := c.Release(t.Context(), "x", g.Lease); err != nil {
			t.Fatal(err)
		}
		a.mustNot("renew", args{"topic": "x", "lease": g.Lease}, "LOST", "Stop the work")
		a.mustNot("release", args{"topic": "x", "lease": g.Lease}, "LOST")
	})
}

func TestRefusalsSayWhatToDo(t *testing.T) {
	overBoth(t, func(t *testing.T, a *agent, c *client.Client) {
		if _, err := c.Grant(t.Context(), "x", client.Name("other"), client.Capacity(1)); err != nil {
			t.Fatal(err)
		}
		a.mustNot("acquire", args{"topic": "x", "wait": 0}, "not granted", `"other"`, "do not start the work")
		a.mustNot("acquire", args{"topic": "x", "wait": 0.05}, "not granted", "do not start the work")
		a.mustNot("acquire", args{"topic": "x", "capacity": 3}, "capacity of x is 1")
		a.mustNot("acquire", args{"topic": "x", "wait": 301}, "0 to 300")
		a.mustNot("acquire", args{"topic": "x", "wait": -1}, "0 to 300")
		a.mustNot("acquire", args{"topic": "x", "ttl": 7200}, "ttl", "3600")
		a.mustNot("acquire", args{"topic": "x", "ttl": -1}, "ttl", "3600")
		a.mustNot("acquire", args{"topic": "a/b"}, "not a topic")
		a.mustNot("acquire", args{}, "topic")
		a.mustNot("renew", args{"topic": "x", "lease": "nonsense"}, "lease")
		var held struct{ Leases []any }
		if a.must("held", nil, &held); len(held.Leases) != 0 {
			t.Errorf("%v", held.Leases)
		}
	})
}

func TestStatusAndResources(t *testing.T) {
	overBoth(t, func(t *testing.T, a *agent, _ *client.Client) {
		a.must("acquire", args{"topic": "deploy:staging", "reason": "why"}, nil)
		var s struct{ State string }
		if a.must("status", args{"topic": "deploy:staging"}, &s); s.State != "held" {
			t.Errorf("%+v", s)
		}
		for uri, want := range map[string]string{
			"mutex://held":                    `"fence": 1`,
			"mutex://topics/deploy:staging":   `"reason": "why"`,
			"mutex://topics/deploy%3Astaging": `"state": "held"`,
		} {
			r, err := a.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
			if err != nil || len(r.Contents) != 1 || !strings.Contains(r.Contents[0].Text, want) {
				t.Errorf("%s: %v %v", uri, r, err)
			}
		}
		if _, err := a.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "mutex://topics/a/b"}); err == nil {
			t.Error("a/b is no topic")
		}
	})
}

func TestWaitReturnsWhenALeaseEnds(t *testing.T) {
	overBoth(t, func(t *testing.T, a *agent, c *client.Client) {
		var w struct {
			Ended  bool
			Status struct{ State string }
		}
		if a.must("wait", args{"topic": "x"}, &w); !w.Ended || w.Status.State != "free" {
			t.Errorf("%+v", w)
		}
		g, err := c.Grant(t.Context(), "x")
		if err != nil {
			t.Fatal(err)
		}
		if a.must("wait", args{"topic": "x", "timeout": 0.05}, &w); w.Ended || w.Status.State != "held" {
			t.Errorf("%+v", w)
		}
		time.AfterFunc(50*time.Millisecond, func() { _, _ = c.Release(context.Background(), "x", g.Lease) })
		if a.must("wait", args{"topic": "x", "timeout": 300}, &w); !w.Ended || w.Status.State != "free" {
			t.Errorf("%+v", w)
		}
		a.mustNot("wait", args{"topic": "x", "timeout": 301}, "0 to 300")
	})
}

// TestLostMeansStop has an administrator end a lease that a session keeps.
func TestLostMeansStop(t *testing.T) {
	overBoth(t, func(t *testing.T, a *agent, c *client.Client) {
		a.must("acquire", args{"topic": "x", "ttl": 3}, nil)
		if _, err := c.ForceRelease(t.Context(), "x", client.Force{Fence: 1}); err != nil {
			t.Fatal(err)
		}
		var text string
		eventually(t, "the loss is told", func() bool {
			text = a.must("status", args{"topic": "other"}, nil)
			return strings.HasPrefix(text, "LOST")
		})
		if !strings.Contains(text, "x under fence 1 is gone. ") || strings.Count(strings.ToLower(text), "stop the work") != 1 {
			t.Error(text)
		}
		if text := a.must("status", args{"topic": "other"}, nil); strings.Contains(text, "LOST") {
			t.Errorf("told twice: %s", text)
		}
		var held struct{ Leases []any }
		if a.must("held", nil, &held); len(held.Leases) != 0 {
			t.Errorf("%v", held.Leases)
		}
		var g grant
		if a.must("acquire", args{"topic": "x"}, &g); g.Fence != 2 {
			t.Errorf("%+v", g)
		}
	})
}

// TestALeaseIsKeptAliveWhileTheSessionLives has a ttl pass several times.
func TestALeaseIsKeptAliveWhileTheSessionLives(t *testing.T) {
	overBoth(t, func(t *testing.T, a *agent, c *client.Client) {
		a.must("acquire", args{"topic": "x", "ttl": 3}, nil)
		watch, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		renewals := 0
		for e, err := range c.Watch(watch, "x") {
			if err != nil {
				t.Fatal(err)
			}
			if e.Type == client.EventRenew {
				renewals++
			}
			if renewals == 4 { // a third of the ttl apart
				break
			}
		}
		if got := holders(t, c, "x"); !slices.Equal(got, []int64{1}) {
			t.Errorf("held by %v", got)
		}
	})
}

// TestASessionThatEndsGivesItsLeasesBack: at once, not by their ttl.
func TestASessionThatEndsGivesItsLeasesBack(t *testing.T) {
	overBoth(t, func(t *testing.T, a *agent, c *client.Client) {
		a.must("acquire", args{"topic": "x", "ttl": 3600}, nil)
		a.must("acquire", args{"topic": "y", "ttl": 3600}, nil)
		_ = a.Close() // the other side may be gone first
		eventually(t, "both are free", func() bool { return holders(t, c, "x") == nil && holders(t, c, "y") == nil })
	})
}

func TestBeingAskedToStopGivesLeasesBack(t *testing.T) {
	_, c := locks(t, nil)
	a, cancel, done := overPipes(t, c)
	a.must("acquire", args{"topic": "x", "ttl": 3600}, nil)
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if got := holders(t, c, "x"); got != nil {
		t.Errorf("held by %v", got)
	}
}

// TestASessionThatEndsLeavesTheQueue has its input close while an acquire waits.
func TestASessionThatEndsLeavesTheQueue(t *testing.T) {
	_, c := locks(t, nil)
	g, err := c.Grant(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	a, _, done := overPipes(t, c)
	go func() {
		_, _ = a.CallTool(context.Background(), &mcp.CallToolParams{Name: "acquire", Arguments: args{"topic": "x", "wait": 300}})
	}()
	waiting := func(n int) func() bool {
		return func() bool {
			s, err := c.Status(t.Context(), "x")
			return err == nil && s.Waiting == n
		}
	}
	eventually(t, "it waits", waiting(1))
	a.hangUp()
	if err := <-done; err != nil {
		t.Error(err)
	}
	eventually(t, "nobody waits", waiting(0))
	if _, err := c.Release(t.Context(), "x", g.Lease); err != nil {
		t.Error(err)
	}
}

func TestProgressSaysWhoIsInTheWay(t *testing.T) {
	_, c := locks(t, nil)
	if _, err := c.Grant(t.Context(), "x", client.Name("other")); err != nil {
		t.Fatal(err)
	}
	said := make(chan string, 10)
	watched := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { said <- r.Params.Message },
	})
	session, err := watched.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: c.URL() + "/-/mcp"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	params := &mcp.CallToolParams{Name: "acquire", Arguments: args{"topic": "x", "wait": 1}}
	params.SetProgressToken("p")
	if _, err := session.CallTool(t.Context(), params); err != nil {
		t.Fatal(err)
	}
	select {
	case text := <-said:
		if !strings.Contains(text, `"other"`) {
			t.Error(text)
		}
	case <-time.After(10 * time.Second):
		t.Error("nothing was said")
	}
}
