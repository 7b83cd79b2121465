package sdktest_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// world is a live server in the state of an example.
type world struct {
	t   *testing.T
	url string
}

// baseURL is where the examples' links point.
const baseURL = "http://127.0.0.1:4185"

// fresh runs a server that knows no topic.
func fresh(t *testing.T, flags ...string) *world {
	return &world{t, serve(t, append([]string{"--base-url", baseURL}, flags...)...)}
}

// ask sends a request, with headers in pairs, and gives the answer's text.
func (w *world) ask(method, path string, headers ...string) string {
	w.t.Helper()
	text, err := w.send(w.t.Context(), method, path, "", headers...)
	if err != nil {
		w.t.Fatal(err)
	}
	return text
}

func (w *world) send(ctx context.Context, method, path, body string, headers ...string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, method, w.url+path, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	request.Host = request.Header.Get("Host")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return string(text), err
}

// later sends a request that waits, and returns once the topic has that many waiters. It is withdrawn with the test.
func (w *world) later(waiting int, path string, headers ...string) <-chan string {
	w.t.Helper()
	answer := make(chan string, 1)
	go func() { // ends with the wait, or with the test's context
		text, err := w.send(w.t.Context(), "POST", path, "", headers...)
		if err != nil {
			text = err.Error()
		}
		answer <- text
	}()
	topic, _, _ := strings.Cut(path, "?")
	w.until(topic, fmt.Sprintf("\"waiting\": %d,", waiting))
	return answer
}

// until asks for a topic's state until the answer has a text in it.
func (w *world) until(topic, text string) {
	w.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !strings.Contains(w.ask("GET", topic), text); {
		if time.Now().After(deadline) {
			w.t.Fatalf("%s has not come to %s within 20 s", topic, text)
		}
	}
}

// field takes a string out of an answer, as anyone with sed would.
func field(answer, name string) string {
	_, after, _ := strings.Cut(answer, `"`+name+`": "`)
	value, _, _ := strings.Cut(after, `"`)
	return value
}

const (
	staging = "/deploy:staging"
	who     = "&name=worker-3"
	why     = "&reason=release+1.8&host=ci-7&pid=4711"
	nightly = staging + "?wait=60&name=nightly&reason=nightly+build"
	unknown = "5f0c8a1e6b7d4c3f9a2b1d0e8c7f6a54"
)

var (
	admin = []string{"Authorization", "Bearer " + adminToken}
	key   = []string{"Idempotency-Key", "0b9f7c52-unguessable"}
)

// rounds takes and gives back a topic, so that the next grant has the fence of an example.
func (w *world) rounds(n int, path string) *world {
	w.t.Helper()
	topic, _, _ := strings.Cut(path, "?")
	for range n {
		w.ask("DELETE", topic+"/"+field(w.ask("POST", path), "lease"))
	}
	return w
}

// held is a server whose deploy:staging is held by worker-3 under fence 42, as in most examples.
func held(t *testing.T, flags ...string) (w *world, grant, lease string) {
	t.Helper()
	w = fresh(t, flags...).rounds(41, staging)
	grant = w.ask("POST", staging+"?ttl=60"+who+why)
	return w, grant, staging + "/" + field(grant, "lease")
}

// asks says for each example of the document which request it is the answer to.
var asks = map[string]func(*testing.T) string{
	"Grant": func(t *testing.T) string { _, grant, _ := held(t); return grant },
	"SemaphoreGrant": func(t *testing.T) string {
		w := fresh(t).rounds(6, "/gpu?capacity=3")
		w.ask("POST", "/gpu?ttl=600&name=train-a")
		w.ask("POST", "/gpu?ttl=600&name=train-b")
		return w.ask("POST", "/gpu?ttl=600&name=train-c")
	},
	"LeaseLives": func(t *testing.T) string { w, _, lease := held(t); return w.ask("GET", lease) },
	"Renewed":    func(t *testing.T) string { w, _, lease := held(t); return w.ask("POST", lease+"/renew") },
	"Released":   func(t *testing.T) string { w, _, lease := held(t); return w.ask("DELETE", lease) },
	"LeftQueue": func(t *testing.T) string {
		w, _, _ := held(t)
		w.later(1, nightly, key...)
		return w.ask("DELETE", staging+"/-", key...)
	},
	"Broken": func(t *testing.T) string {
		w, _, lease := held(t)
		w.ask("POST", lease+"/renew")
		w.later(1, nightly)
		return w.ask("POST", staging+"/force-release?fence=42", admin...)
	},
	"Topics": func(t *testing.T) string {
		w, _, _ := held(t)
		w.later(1, nightly)
		return w.ask("GET", "/-/topics", admin...)
	},
	"Pruned": func(t *testing.T) string {
		w := fresh(t)
		for i := range 17 {
			w.rounds(1, fmt.Sprint("/idle", i))
		}
		for i := range 3 {
			w.ask("POST", fmt.Sprint("/held", i))
		}
		return w.ask("POST", "/-/prune", admin...)
	},
	"Healthy": func(t *testing.T) string { return fresh(t).ask("GET", "/-/healthy") },
	"HeldStatus": func(t *testing.T) string {
		w, _, lease := held(t)
		w.ask("POST", lease+"/renew")
		w.later(1, nightly)
		return w.ask("GET", staging)
	},
	"FreeStatus": func(t *testing.T) string { return fresh(t).ask("GET", staging) },
	"GrantEvent": grantEvent,
	"History": func(t *testing.T) string {
		w := fresh(t).rounds(40, staging)
		before := field(w.ask("POST", staging), "lease")
		granted := w.later(1, staging+"?ttl=60&wait=60"+who+why)
		w.ask("DELETE", staging+"/"+before)
		lease := staging + "/" + field(<-granted, "lease")
		w.ask("POST", lease+"/renew")
		w.ask("DELETE", lease)
		path := staging + "/history?limit=3&renewals=true"
		w.until(path, "\"event\": \"released\",\n      \"topic\": \"deploy:staging\",\n      \"lease_id\": \""+
			field(w.ask("GET", path), "lease_id"))
		return w.ask("GET", path)
	},
	"Busy": func(t *testing.T) string { w, _, _ := held(t); return w.ask("POST", staging+"?ttl=60") },
	"Timeout": func(t *testing.T) string {
		w, _, _ := held(t)
		const wait = staging + "?ttl=60&wait=2"
		over := w.later(1, wait, key...)
		w.later(2, nightly)
		return strings.ReplaceAll(<-over, "wait=2\"", "wait=25\"") // the example waits longer
	},
	"Conflict": func(t *testing.T) string {
		w := fresh(t)
		w.ask("POST", "/gpu?capacity=3")
		return w.ask("POST", "/gpu?ttl=600&capacity=2")
	},
	"Superseded": func(t *testing.T) string {
		w, _, _ := held(t)
		older := w.later(1, nightly, key...)
		go w.send(t.Context(), "POST", nightly, "", key...)
		return <-older
	},
	"KeySpent": func(t *testing.T) string {
		w := fresh(t)
		w.ask("DELETE", staging+"/"+field(w.ask("POST", staging, key...), "lease"))
		return w.ask("POST", staging, key...)
	},
	"KeyReused": func(t *testing.T) string {
		w := fresh(t)
		w.ask("POST", staging, key...)
		return w.ask("POST", staging+"?ttl=1", key...)
	},
	"Gone":         func(t *testing.T) string { return fresh(t).ask("POST", staging+"/"+unknown+"/renew") },
	"NoRoute":      func(t *testing.T) string { return fresh(t).ask("GET", "/no/such/path") },
	"BadTopic":     func(t *testing.T) string { return fresh(t).ask("POST", "/deploy.staging") },
	"BadParam":     func(t *testing.T) string { return fresh(t).ask("POST", staging+"?wait=5m&ttl=86400") },
	"UnknownParam": func(t *testing.T) string { return fresh(t).ask("POST", staging+"/force-release?dryrun=true", admin...) },
	"BadLease":     func(t *testing.T) string { return fresh(t).ask("GET", staging+"/not-a-lease") },
	"NoLease":      func(t *testing.T) string { return fresh(t).ask("POST", staging+"/-/renew") },
	"Unauthorized": func(t *testing.T) string { return fresh(t, "--token", "secret").ask("POST", staging) },
	"AdminNeeded":  func(t *testing.T) string { return fresh(t).ask("GET", "/-/topics") },
	"Forbidden":    forbidden,
	"CrossOrigin":  func(t *testing.T) string { return fresh(t).ask("POST", staging, "Sec-Fetch-Site", "cross-site") },
	"BadHost":      func(t *testing.T) string { return fresh(t).ask("GET", staging, "Host", "mutex.example") },
	"MethodNotAllowed": func(t *testing.T) string {
		return fresh(t).ask("PUT", staging+"/"+unknown)
	},
	"TooLarge": func(t *testing.T) string {
		text, err := fresh(t).send(t.Context(), "POST", staging, strings.Repeat("x", 4097))
		if err != nil {
			t.Fatal(err)
		}
		return text
	},
	"TopicLimit": func(t *testing.T) string {
		w := fresh(t, "--max-topics", "1")
		w.ask("POST", "/another")
		return w.ask("POST", staging)
	},
	"WaitersLimit": func(t *testing.T) string {
		w := fresh(t, "--max-waiters", "1")
		w.ask("POST", staging)
		w.later(1, nightly)
		return w.ask("POST", staging+"?wait=60")
	},
	"Unsupported": func(t *testing.T) string { return fresh(t, "--history=false").ask("GET", "/-/history", admin...) },
	"Shutdown":    shutdown,
}

func shutdown(t *testing.T) string {
	url, stop := process(t)
	w := &world{t, url}
	w.ask("POST", staging)
	waiting := w.later(1, nightly)
	stop()
	return <-waiting
}

// forbidden asks as one who has a token, but not one of those that the policy names.
func forbidden(t *testing.T) string {
	file := filepath.Join(t.TempDir(), "policy.yaml")
	const policy = "rules:\n  - topic: prod:db\n    acquire: admin\n    read: admin\n"
	if err := os.WriteFile(file, []byte(policy), 0o600); err != nil {
		t.Fatal(err)
	}
	return fresh(t, "--token", "secret", "--policy", file).ask("GET", "/prod:db", "Authorization", "Bearer secret")
}

// grantEvent is the data of the event that a watcher of the grant gets.
func grantEvent(t *testing.T) string {
	w := fresh(t).rounds(41, staging)
	request, err := http.NewRequestWithContext(t.Context(), "GET", w.url+staging+"/sse", nil)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	for lines, name := bufio.NewScanner(stream.Body), ""; lines.Scan(); {
		if event, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			name = event
			if name == "status" {
				w.ask("POST", staging+"?ttl=60"+who)
			}
		}
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok && name == "grant" {
			return asSent(t, []byte(data))
		}
	}
	t.Fatal("the stream ended without a grant")
	return ""
}
