package bench_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// fake is a lock service in memory that keeps to the contract as far as bench looks, and breaks it on demand.
type fake struct {
	broken   string // which promise it breaks
	requests atomic.Int64
	pruned   atomic.Int64

	mu     sync.Mutex // guards topics and what they hold
	topics map[string]*fakeTopic
}

type fakeTopic struct {
	lease, holder string
	fence, leases int64
	queue         []*fakeWaiter
	watchers      []chan string
	events        int
}

type fakeWaiter struct {
	name    string
	granted chan string
}

func newFake(broken string) *fake { return &fake{broken: broken, topics: map[string]*fakeTopic{}} }

// startFake serves a fake for the length of the test.
func startFake(t *testing.T, broken string) (*fake, string) {
	t.Helper()
	f := newFake(broken)
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	t.Cleanup(s.CloseClientConnections)
	return f, s.URL
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.requests.Add(1)
	parts := strings.Split(strings.TrimPrefix(r.URL.Path, "/"), "/")
	lease := r.Header.Get("X-Lease")
	switch {
	case f.broken == "busy":
		w.WriteHeader(http.StatusConflict)
		fmt.Fprint(w, `{"code": "BUSY"}`)
	case r.URL.Path == "/-/prune":
		f.pruned.Add(1)
		if r.Header.Get("Authorization") != "Bearer sesame" {
			w.WriteHeader(http.StatusForbidden)
		}
	case len(parts) == 1 && r.Method == http.MethodPost:
		f.acquire(w, r, parts[0])
	case len(parts) == 3 && r.Method == http.MethodPost:
		fmt.Fprintf(w, "{\n  \"topic\": %q,\n  \"lease\": %q\n}\n", parts[0], lease)
	case r.Method == http.MethodDelete:
		f.release(parts[0])
		fmt.Fprint(w, "{\n  \"released\": true\n}\n")
	case len(parts) == 2:
		f.watch(w, r, parts[0])
	default:
		f.status(w, parts[0])
	}
}

// topic must be called with the lock.
func (f *fake) topic(name string) *fakeTopic {
	if f.topics[name] == nil {
		f.topics[name] = &fakeTopic{}
	}
	return f.topics[name]
}

func (f *fake) acquire(w http.ResponseWriter, r *http.Request, topic string) {
	me := &fakeWaiter{r.Header.Get("X-Name"), make(chan string, 1)}
	f.mu.Lock()
	t := f.topic(topic)
	switch {
	case t.lease == "" || f.broken == "exclusion":
		me.granted <- f.grant(t, me.name)
	case f.broken == "order":
		t.queue = append([]*fakeWaiter{me}, t.queue...)
	default:
		t.queue = append(t.queue, me)
	}
	f.mu.Unlock()
	select {
	case body := <-me.granted:
		fmt.Fprint(w, body)
	case <-r.Context().Done():
		f.mu.Lock()
		t.queue = slices.DeleteFunc(t.queue, func(other *fakeWaiter) bool { return other == me })
		f.mu.Unlock()
	}
}

// grant must be called with the lock.
func (f *fake) grant(t *fakeTopic, name string) string {
	t.leases++
	stuck := f.broken == "fences" || f.broken == "fence" && len(t.queue) > 0
	if !stuck || t.leases < 100 {
		t.fence++
	}
	t.lease, t.holder = fmt.Sprintf("%032x", t.leases), name
	f.tell(t, "grant")
	return fmt.Sprintf("{\n  \"lease\": %q,\n  \"name\": %q,\n  \"fence\": %d\n}\n", t.lease, name, t.fence)
}

func (f *fake) release(topic string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := f.topic(topic)
	f.tell(t, "release")
	t.lease, t.holder = "", ""
	if len(t.queue) > 0 {
		next := t.queue[0]
		t.queue = t.queue[1:]
		next.granted <- f.grant(t, next.name)
	}
}

// tell must be called with the lock.
func (f *fake) tell(t *fakeTopic, kind string) {
	t.events++
	text := fmt.Sprintf("id: x-%d\nevent: %s\ndata: {\"name\":%q}\n\n", t.events, kind, t.holder)
	switch {
	case f.broken == "lost" && t.events == 3:
		return
	case f.broken == "repeated" && t.events == 3:
		text += text
	}
	for _, w := range t.watchers {
		w <- text
	}
}

func (f *fake) watch(w http.ResponseWriter, r *http.Request, topic string) {
	events := make(chan string, 1000)
	f.mu.Lock()
	t := f.topic(topic)
	t.watchers = append(t.watchers, events)
	f.mu.Unlock()
	_, _ = fmt.Fprint(w, ": hello\n\nid: x-0\nevent: status\ndata: {\"waiting\":0}\n\n")
	flusher := w.(http.Flusher)
	for {
		flusher.Flush()
		select {
		case text := <-events:
			_, _ = fmt.Fprint(w, text)
			if f.broken == "cut" && strings.Contains(text, "x-4\n") {
				return
			}
		case <-r.Context().Done():
			return
		}
	}
}

func (f *fake) status(w http.ResponseWriter, topic string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := f.topic(topic)
	type waiter struct {
		Name string `json:"name"`
	}
	status := struct {
		State   string   `json:"state"`
		Waiting int      `json:"waiting"`
		Waiters []waiter `json:"waiters"`
	}{State: cmp.Or(t.holder, "free"), Waiting: len(t.queue)}
	for _, other := range t.queue {
		status.Waiters = append(status.Waiters, waiter{other.name})
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	_ = e.Encode(status)
}
