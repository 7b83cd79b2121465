package httpserver_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"legible.sh/mutex/internal/httpserver"
	"legible.sh/mutex/internal/journal"
	"legible.sh/mutex/internal/lease"
	"legible.sh/mutex/internal/policy"
	"legible.sh/mutex/registry"
)

// disk is a journal that a test can break.
type disk struct {
	journal.Memory
	mu        sync.Mutex
	failing   error
	suspended bool
}

func (d *disk) Append(lease.Topic, []lease.Event) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.failing
}

func (d *disk) Suspended() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.suspended
}

func (d *disk) set(change func(*disk)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(d)
}

// TestEveryCodeOfTheDocument walks the document's error codes and makes the server give each of them.
func TestEveryCodeOfTheDocument(t *testing.T) {
	broken := &disk{}
	s := start(t, func(o *httpserver.Options, r *registry.Options, p *policy.Options) {
		o.CheckHost = true
		r.Journal = broken
		r.MaxTopics = 8
		p.Limits.MaxWaiters = 1
		o.Metrics = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("a bug") })
	})
	closed := start(t, func(_ *httpserver.Options, _ *registry.Options, p *policy.Options) {
		p.Tokens, p.AdminToken = []string{"secret"}, ""
	})
	s.acquire(t, "/held?ttl=600&name=other")
	s.acquire(t, "/keyed", "Idempotency-Key", "used")
	s.call(t, "DELETE", "/spent/-", "Idempotency-Key", "spent")
	gives := map[string]func() answer{
		"BUSY":     func() answer { return s.call(t, "POST", "/held") },
		"TIMEOUT":  func() answer { return s.call(t, "POST", "/held?wait=0.001") },
		"CONFLICT": func() answer { return s.call(t, "POST", "/held?capacity=2") },
		"SUPERSEDED": func() answer {
			older := s.waiter(t, "/held?wait=60", "Idempotency-Key", "two")
			go s.call(t, "POST", "/held?wait=0.2", "Idempotency-Key", "two")
			return <-older
		},
		"KEY_SPENT":          func() answer { return s.call(t, "POST", "/spent", "Idempotency-Key", "spent") },
		"KEY_REUSED":         func() answer { return s.call(t, "POST", "/keyed?ttl=1", "Idempotency-Key", "used") },
		"NOT_FOUND":          func() answer { return s.call(t, "DELETE", "/held/"+strings.Repeat("0", 32)) },
		"NO_ROUTE":           func() answer { return s.call(t, "GET", "/a/b/c") },
		"BAD_TOPIC":          func() answer { return s.call(t, "POST", "/a.b") },
		"BAD_PARAM":          func() answer { return s.call(t, "POST", "/a?ttl=0") },
		"UNAUTHORIZED":       func() answer { return closed.call(t, "POST", "/a") },
		"FORBIDDEN":          func() answer { return closed.call(t, "GET", "/-/topics") },
		"CROSS_ORIGIN":       func() answer { return s.call(t, "POST", "/a", "Sec-Fetch-Site", "cross-site") },
		"BAD_HOST":           func() answer { return s.call(t, "GET", "/a", "Host", "evil.test") },
		"METHOD_NOT_ALLOWED": func() answer { return s.call(t, "PATCH", "/a") },
		"TOO_LARGE":          func() answer { return s.callBody(t, "POST", "/a", strings.Repeat("x", 5000)) },
		"TOPIC_LIMIT": func() answer {
			for i := range 8 {
				s.call(t, "POST", fmt.Sprint("/many", i))
			}
			return s.call(t, "POST", "/one-more")
		},
		"WAITERS_LIMIT": func() answer {
			s.dial(t, "POST /held?wait=60 HTTP/1.1\r\nHost: localhost\r\n\r\n")
			eventually(t, "queued", func() bool { return s.waiting(t, "held") == 1 })
			return s.call(t, "POST", "/held?wait=60")
		},
		"UNSUPPORTED": func() answer { return s.call(t, "GET", "/held/history") },
		"SUSPENDED": func() answer {
			s.call(t, "POST", "/many0/force-release", "Authorization", "Bearer "+adminToken)
			broken.set(func(d *disk) { d.suspended = true })
			defer broken.set(func(d *disk) { d.suspended = false })
			return s.call(t, "POST", "/many0")
		},
		"STORAGE": func() answer {
			broken.set(func(d *disk) { d.failing = errors.New("no space") })
			defer broken.set(func(d *disk) { d.failing = nil })
			return s.call(t, "DELETE", "/keyed/-", "Idempotency-Key", "used")
		},
		"INTERNAL": func() answer { return s.call(t, "GET", "/-/metrics") },
		"SHUTDOWN": func() answer { s.shutdown(); return s.call(t, "GET", "/-/ready") },
	}
	doc, _ := document()
	table := statuses(t)
	order := doc.Components.Schemas["ErrorCode"].Value.Enum
	slices.SortStableFunc(order, func(a, b any) int { return late(a) - late(b) })
	for _, code := range order {
		give := gives[code.(string)]
		if give == nil {
			t.Errorf("%s: nothing gives it", code)
			continue
		}
		if a := give(); a.str("code") != code || a.status != table[code.(string)] {
			t.Errorf("%s: got %d %s", code, a.status, a.text)
		} else if text := a.str("error") + ": " + a.str("hint"); !slices.Contains(exampleTexts(code), text) && !ownWords[code.(string)] {
			t.Errorf("%s: no example says %q", code, text)
		}
	}
	if log := s.log.String(); !strings.Contains(log, "a bug") {
		t.Error("a panic was not logged")
	}
}

// ownWords are the codes whose words depend on the request.
var ownWords = map[string]bool{"BAD_PARAM": true, "CONFLICT": true, "METHOD_NOT_ALLOWED": true}

// exampleTexts gives what the document's examples of a code say.
func exampleTexts(code any) []string {
	doc, _ := document()
	var texts []string
	for _, example := range doc.Components.Examples {
		if value, ok := example.Value.Value.(map[string]any); ok && value["code"] == code {
			texts = append(texts, fmt.Sprint(value["error"], ": ", value["hint"]))
		}
	}
	return texts
}

// late puts last what leaves the server changed.
func late(code any) int {
	return slices.Index([]string{"WAITERS_LIMIT", "TOPIC_LIMIT", "SUSPENDED", "SHUTDOWN"}, code.(string)) + 1
}

// statuses reads the table in the document's description: | `CODE` | status | means | do next |.
func statuses(t *testing.T) map[string]int {
	t.Helper()
	doc, _ := document()
	table := make(map[string]int)
	for line := range strings.Lines(doc.Info.Description) {
		var code string
		var status int
		if _, err := fmt.Sscanf(strings.ReplaceAll(line, "`", ""), "| %s | %d |", &code, &status); err == nil {
			table[code] = status
		}
	}
	if len(table) < 20 {
		t.Fatalf("the document's table has %d rows", len(table))
	}
	return table
}

func TestInnerErrorsAreLoggedAndNotShown(t *testing.T) {
	broken := &disk{failing: errors.New("sd 0:0:0:0: rejecting I/O")}
	s := start(t, func(_ *httpserver.Options, r *registry.Options, _ *policy.Options) { r.Journal = broken })
	if a := s.call(t, "POST", "/a"); strings.Contains(a.text, "sd 0") || a.str("code") != "STORAGE" {
		t.Errorf("%s", a.text)
	}
}

// TestHalfAnAnswerIsNotTakenForAWholeOne: what a handler wrote before it panicked must not look as if that were all.
func TestHalfAnAnswerIsNotTakenForAWholeOne(t *testing.T) {
	s := start(t, func(o *httpserver.Options, _ *registry.Options, _ *policy.Options) {
		o.MCP = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "half")
			panic("a bug")
		})
	})
	a, err := http.Get(s.URL + "/-/mcp")
	if err == nil {
		var text []byte
		text, err = io.ReadAll(a.Body)
		_ = a.Body.Close()
		if err == nil {
			t.Errorf("%d %q came as a whole answer", a.StatusCode, text)
		}
	}
	if log := s.log.String(); !strings.Contains(log, "a bug") || !strings.Contains(log, "status=500") {
		t.Errorf("logged: %s", log)
	}
}

func TestFollowingNextLeadsOn(t *testing.T) {
	s := start(t, nil)
	lease, _ := s.acquire(t, "/a?ttl=60")
	busy := s.call(t, "POST", "/a?ttl=30")
	next := busy.json["next"].(map[string]any)
	done := s.waiter(t, next["path"].(string))
	s.call(t, "DELETE", "/a/"+lease)
	if a := <-done; a.status != 200 || a.json["ttl"] != 30.0 {
		t.Errorf("%d %s", a.status, a.text)
	}
}

// TestSecretsStayWithTheirOwner plants leases, keys and tokens, exercises everything and greps what came out.
func TestSecretsStayWithTheirOwner(t *testing.T) {
	const key, token = "very-secret-key", "very-secret-token"
	s := start(t, func(_ *httpserver.Options, _ *registry.Options, p *policy.Options) { p.Tokens = []string{token} })
	auth := []string{"Authorization", "Bearer " + token}
	admin := []string{"Authorization", "Bearer " + adminToken}
	events := s.watch(t, "/a/sse")
	lease := s.call(t, "POST", "/a?wait=1", append(auth, "Idempotency-Key", key)...).str("lease")
	var seen bytes.Buffer
	see := func(a answer) { fmt.Fprintln(&seen, a.header, a.text) }
	see(s.call(t, "POST", "/a", auth...))
	see(s.call(t, "POST", "/a?ttl=1", append(auth, "Idempotency-Key", key)...))
	see(s.call(t, "POST", "/a", append(auth, "Idempotency-Key", key+" with a blank")...))
	see(s.call(t, "POST", "/a", "Authorization", "Bearer wrong-"+token))
	see(s.call(t, "GET", "/a"))
	see(s.call(t, "GET", "/a", "Accept", "text/html"))
	see(s.call(t, "GET", "/a/"+lease))
	see(s.call(t, "GET", "/a/"+lease+"x"))
	see(s.call(t, "GET", "/-/topics", admin...))
	see(s.call(t, "GET", "/a/history"))
	see(s.call(t, "POST", "/a/force-release?dry_run=true", admin...))
	see(s.call(t, "DELETE", "/a/"+lease, auth...))
	see(s.call(t, "DELETE", "/a/"+lease, auth...))
	for range 3 {
		e := events.next(t)
		fmt.Fprintln(&seen, e)
	}
	seen.WriteString(s.log.String())
	for _, secret := range []string{lease, key, token, adminToken} {
		for line := range strings.Lines(seen.String()) {
			if strings.Contains(line, secret) {
				t.Errorf("%q shows in %q", secret, line)
			}
		}
	}
}

func TestAdminCalls(t *testing.T) {
	s := start(t, nil)
	admin := []string{"Authorization", "Bearer " + adminToken}
	for _, c := range []struct{ method, path string }{
		{"GET", "/-/topics"}, {"GET", "/-/history"}, {"POST", "/-/prune"}, {"POST", "/a/force-release"},
	} {
		if a := s.call(t, c.method, c.path); a.status != 401 {
			t.Errorf("%s without a token: %d", c.path, a.status)
		}
		if a := s.call(t, c.method, c.path, "Authorization", "Bearer wrong"); a.status != 403 && a.status != 401 {
			t.Errorf("%s with a wrong one: %d", c.path, a.status)
		}
	}
	s.acquire(t, "/deploy:a?name=x")
	s.acquire(t, "/deploy:b")
	idle, _ := s.acquire(t, "/other")
	s.call(t, "DELETE", "/other/"+idle)
	list := s.call(t, "GET", "/-/topics?prefix=deploy:&limit=1", admin...)
	if list.json["total"] != 2.0 || len(list.json["topics"].([]any)) != 1 {
		t.Errorf("list: %s", list.text)
	}
	same(t, []byte(list.text), nil)
	next := list.json["next"].(map[string]any)
	if a := s.call(t, "GET", next["path"].(string), admin...); !strings.Contains(a.text, "deploy:b") || a.json["next"] != nil {
		t.Errorf("next page: %s", a.text)
	}
	if a := s.call(t, "GET", "/-/topics?state=free", admin...); a.json["total"] != 1.0 {
		t.Errorf("free ones: %s", a.text)
	}
	if a := s.call(t, "POST", "/-/prune", admin...); a.json["pruned"] != 1.0 || a.json["remaining"] != 2.0 {
		t.Errorf("prune: %s", a.text)
	}
	if a := s.call(t, "POST", "/deploy:a/force-release?fence=7", admin...); len(a.json["released"].([]any)) != 0 {
		t.Errorf("another fence: %s", a.text)
	}
	if a := s.call(t, "POST", "/deploy:a/force-release?dry_run=true", admin...); len(a.json["released"].([]any)) != 1 || len(a.json["holders"].([]any)) != 1 {
		t.Errorf("dry run: %s", a.text)
	}
	if a := s.call(t, "POST", "/deploy:a/force-release?fence=1", admin...); len(a.json["released"].([]any)) != 1 || len(a.json["holders"].([]any)) != 0 {
		t.Errorf("force: %s", a.text)
	}
}

// TestDeafClientsAreGivenUp lets a client ask and ask, and never read.
func TestDeafClientsAreGivenUp(t *testing.T) {
	s := start(t, func(o *httpserver.Options, _ *registry.Options, _ *policy.Options) {
		o.AnswerTimeout = 50 * time.Millisecond
	})
	c := s.dial(t, "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
	go func() {
		for {
			if _, err := io.WriteString(c, "GET /openapi.yaml HTTP/1.1\r\nHost: h\r\n\r\n"); err != nil {
				return
			}
		}
	}()
	eventually(t, "the connection has ended", func() bool { return s.closed.Load() == 1 })
}

// TestWhoStreamsIsNotCutOff outlives the time that a plain answer has.
func TestWhoStreamsIsNotCutOff(t *testing.T) {
	const patience = 20 * time.Millisecond
	s := start(t, func(o *httpserver.Options, _ *registry.Options, _ *policy.Options) {
		o.AnswerTimeout, o.Heartbeat = patience, 5*patience
		o.MCP = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "one, ")
			_ = http.NewResponseController(w).Flush()
			time.Sleep(2 * patience)
			_, _ = io.WriteString(w, "two")
		})
	})
	agent, err := http.Get(s.URL + "/-/mcp")
	if err != nil {
		t.Fatal(err)
	}
	defer agent.Body.Close()
	if b, err := io.ReadAll(agent.Body); string(b) != "one, two" {
		t.Errorf("MCP: %q %v", b, err)
	}
	held, _ := s.acquire(t, "/a")
	res, err := http.Get(s.URL + "/a/sse")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	waiter := s.waiter(t, "/a?wait=60")
	lines := bufio.NewScanner(res.Body)
	for beats := 0; beats < 2 && lines.Scan(); { // each of them later than a plain answer may take
		if lines.Text() == ": " {
			beats++
		}
	}
	s.call(t, "DELETE", "/a/"+held)
	for lines.Scan() && lines.Text() != "event: release" {
	}
	if err := lines.Err(); err != nil || lines.Text() != "event: release" {
		t.Errorf("the stream ended: %v", err)
	}
	if a := <-waiter; a.status != 200 {
		t.Errorf("a long wait: %d %s", a.status, a.text)
	}
}
