package httpserver_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"legible.sh/mutex/internal/httpserver"
	"legible.sh/mutex/internal/policy"
	"legible.sh/mutex/registry"
)

// waiter asks in the background and gives its answer.
func (s *server) waiter(t *testing.T, path string, headers ...string) chan answer {
	t.Helper()
	topic, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "?")
	before := s.waiting(t, topic)
	done := make(chan answer, 1)
	go func() { done <- s.call(t, "POST", path, headers...) }()
	eventually(t, "queued", func() bool { return s.waiting(t, topic) > before || len(done) > 0 })
	return done
}

func TestQueueIsFirstComeFirstServed(t *testing.T) {
	s := start(t, nil)
	held, _ := s.acquire(t, "/a")
	var queue []chan answer
	for i := range 5 {
		queue = append(queue, s.waiter(t, fmt.Sprint("/a?wait=60&name=w", i)))
	}
	for i, w := range queue {
		s.call(t, "DELETE", "/a/"+held)
		a := <-w
		if a.status != 200 || int(a.json["fence"].(float64)) != i+2 {
			t.Fatalf("waiter %d: %d %s", i, a.status, a.text)
		}
		held = a.str("lease")
	}
}

func TestTimeoutTellsTheFacts(t *testing.T) {
	s := start(t, nil)
	s.acquire(t, "/a?name=holder")
	a := s.call(t, "POST", "/a?wait=0.01", "Idempotency-Key", "k")
	if a.status != 408 || a.str("code") != "TIMEOUT" || a.json["position"] != 1.0 || a.json["waiting"] != 1.0 {
		t.Fatalf("%d %s", a.status, a.text)
	}
	if retry := a.json["retry_after"].(float64); retry <= 59 || retry > 60 {
		t.Errorf("retry_after %v", retry)
	}
	if holders := a.json["holders"].([]any); len(holders) != 1 || holders[0] != "holder" {
		t.Errorf("holders %v", holders)
	}
}

func TestTickets(t *testing.T) {
	s := start(t, nil)
	key := []string{"Idempotency-Key", "ticket-1"}
	grant := s.call(t, "POST", "/a?ttl=60", key...)
	again := s.call(t, "POST", "/a?ttl=60", "Idempotency-Key", `"ticket-1"`)
	if again.status != 200 || again.header.Get("Idempotency-Replayed") != "true" || again.text != grant.text {
		t.Errorf("again: %d %s", again.status, again.text)
	}
	if a := s.call(t, "POST", "/a?ttl=30", key...); a.status != 422 || a.str("code") != "KEY_REUSED" {
		t.Errorf("another ttl: %d %s", a.status, a.text)
	}
	older := s.waiter(t, "/a?wait=60", "Idempotency-Key", "ticket-2")
	newer := make(chan answer, 1)
	go func() { newer <- s.call(t, "POST", "/a?wait=60", "Idempotency-Key", "ticket-2") }()
	if a := <-older; a.status != 409 || a.str("code") != "SUPERSEDED" {
		t.Errorf("taken over: %d %s", a.status, a.text)
	}
	if a := s.call(t, "DELETE", "/a/-", "Idempotency-Key", "ticket-2"); a.json["left_queue"] != true || a.json["released"] != false {
		t.Errorf("giving up a place: %s", a.text)
	}
	if a := <-newer; a.status != 409 || a.str("code") != "KEY_SPENT" {
		t.Errorf("whose place was given up: %d %s", a.status, a.text)
	}
	if a := s.call(t, "DELETE", "/a/-", key...); a.json["released"] != true || a.json["fence"] != 1.0 {
		t.Errorf("giving up a lease: %s", a.text)
	}
	if a := s.call(t, "POST", "/a?ttl=60", key...); a.status != 409 || a.str("code") != "KEY_SPENT" {
		t.Errorf("a spent key: %d %s", a.status, a.text)
	}
	if a := s.call(t, "DELETE", "/never/-", "Idempotency-Key", "x"); a.status != 200 || a.json["released"] != false || a.json["left_queue"] != false {
		t.Errorf("giving up nothing: %d %s", a.status, a.text)
	}
	lease, _ := s.acquire(t, "/b")
	if a := s.call(t, "DELETE", "/b/"+lease, "Idempotency-Key", ""); a.status != 400 {
		t.Errorf("a key that is none, beside a lease: %d %s", a.status, a.text)
	}
}

// dial sends a request over a connection of its own and gives the connection.
func (s *server) dial(t *testing.T, request string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if _, err := c.Write([]byte(request)); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestWaitersThatHangUpAreGone(t *testing.T) {
	s := start(t, nil)
	held, _ := s.acquire(t, "/a")
	byHeader := s.dial(t, "POST /a?wait=60&name=x HTTP/1.1\r\nHost: h\r\n\r\n")
	byBody := s.dial(t, "POST /a?wait=60 HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nme")
	byReset := s.dial(t, "POST /a?wait=60 HTTP/1.1\r\nHost: h\r\n\r\n")
	eventually(t, "three wait", func() bool { return s.waiting(t, "a") == 3 })
	next := s.waiter(t, "/a?wait=60&name=alive")
	byHeader.Close()
	byBody.Close()
	if err := byReset.(*net.TCPConn).SetLinger(0); err != nil {
		t.Fatal(err)
	}
	byReset.Close()
	eventually(t, "all three have left", func() bool { return s.waiting(t, "a") == 1 })
	s.call(t, "DELETE", "/a/"+held)
	if a := <-next; a.status != 200 {
		t.Fatalf("%d %s", a.status, a.text)
	}
}

func TestTicketKeepsThePlaceOfOneWhoHangsUp(t *testing.T) {
	s := start(t, nil)
	held, _ := s.acquire(t, "/a")
	c := s.dial(t, "POST /a?wait=60&name=away HTTP/1.1\r\nHost: h\r\nIdempotency-Key: k\r\n\r\n")
	eventually(t, "queued", func() bool { return s.waiting(t, "a") == 1 })
	second := s.waiter(t, "/a?wait=60&name=second")
	c.Close()
	// A wait of zero comes back as BUSY once the connection's end was noticed, and says the place that was kept.
	eventually(t, "the place is kept", func() bool {
		a := s.call(t, "POST", "/a", "Idempotency-Key", "k")
		return a.str("code") == "BUSY" && a.json["position"] == 1.0
	})
	s.call(t, "DELETE", "/a/"+held)
	passed := <-second
	if passed.status != 200 {
		t.Fatalf("one who is away blocks the queue: %s", passed.text)
	}
	s.call(t, "DELETE", "/a/"+passed.str("lease"))
	if a := s.call(t, "POST", "/a", "Idempotency-Key", "k"); a.status != 200 {
		t.Fatalf("back again: %d %s", a.status, a.text)
	}
}

func TestLimits(t *testing.T) {
	s := start(t, func(o *httpserver.Options, r *registry.Options, p *policy.Options) {
		p.Limits.MaxWaiters = 1
		r.MaxTopics = 2
	})
	s.acquire(t, "/a")
	s.dial(t, "POST /a?wait=60 HTTP/1.1\r\nHost: h\r\n\r\n")
	eventually(t, "queued", func() bool { return s.waiting(t, "a") == 1 })
	if a := s.call(t, "POST", "/a?wait=60"); a.status != 429 || a.str("code") != "WAITERS_LIMIT" {
		t.Errorf("a second waiter: %d %s", a.status, a.text)
	}
	s.acquire(t, "/b")
	if a := s.call(t, "POST", "/c"); a.status != 429 || a.str("code") != "TOPIC_LIMIT" {
		t.Errorf("a third topic: %d %s", a.status, a.text)
	}
}

func TestShutdownTellsWhoWaits(t *testing.T) {
	s := start(t, nil)
	s.acquire(t, "/a")
	waiting := s.waiter(t, "/a?wait=60")
	events := s.watch(t, "/a/sse")
	events.next(t)
	s.shutdown()
	if a := <-waiting; a.status != 503 || a.str("code") != "SHUTDOWN" {
		t.Errorf("waiter: %d %s", a.status, a.text)
	}
	for e := events.next(t); e.name != "end"; e = events.next(t) {
		if e.name == "" {
			t.Fatal("the stream ended without an end")
		}
	}
	if a := s.call(t, "GET", "/-/ready"); a.status != 503 {
		t.Errorf("ready: %d", a.status)
	}
}

// stream reads server-sent events.
type stream struct {
	lines *bufio.Scanner
	close func()
}

type event struct{ id, name, data string }

func (s *server) watch(t *testing.T, path string, headers ...string) *stream {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, "GET", s.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := noRedirects.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	if res.StatusCode != 200 || res.Header.Get("Content-Type") != "text/event-stream" || res.Header.Get("X-Accel-Buffering") != "no" {
		t.Fatalf("stream: %d %v", res.StatusCode, res.Header)
	}
	return &stream{bufio.NewScanner(res.Body), cancel}
}

// next gives the next event, an empty one at the end.
func (s *stream) next(t *testing.T) (e event) {
	t.Helper()
	for s.lines.Scan() {
		field, value, _ := strings.Cut(s.lines.Text(), ": ")
		switch field {
		case "id":
			e.id = value
		case "event":
			e.name = value
		case "data":
			e.data = value
		case "":
			if e.name != "" {
				return e
			}
		}
	}
	if err := s.lines.Err(); err != nil && !errors.Is(err, context.Canceled) {
		t.Log(err)
	}
	return event{}
}

func TestWatching(t *testing.T) {
	s := start(t, nil)
	events := s.watch(t, "/a/sse")
	if e := events.next(t); e.name != "status" || !strings.Contains(e.data, `"capacity":null`) {
		t.Fatalf("first: %+v", e)
	}
	evil := "x%0Adata:%20forged%0A%0A"
	lease, _ := s.acquire(t, "/a?ttl=60&name="+evil)
	s.call(t, "POST", "/a/"+lease+"/renew")
	timedOut := s.waiter(t, "/a?wait=0.05&name=other")
	var ids []string
	for _, want := range []string{"grant", "renew", "wait", "leave"} {
		e := events.next(t)
		if e.name != want || strings.Contains(e.data, lease) {
			t.Fatalf("want %s, got %+v", want, e)
		}
		ids = append(ids, e.id)
	}
	<-timedOut
	s.call(t, "DELETE", "/a/"+lease)
	release := events.next(t)
	if release.name != "release" || !strings.Contains(release.data, `"holders":[]`) {
		t.Fatalf("%+v", release)
	}
	resumed := s.watch(t, "/a", "Accept", "text/event-stream", "Last-Event-ID", ids[3])
	if e := resumed.next(t); e != release {
		t.Fatalf("resumed with %+v", e)
	}
	fresh := s.watch(t, "/a/sse", "Last-Event-ID", "0000-1")
	if e := fresh.next(t); e.name != "status" {
		t.Fatalf("an unknown epoch: %+v", e)
	}
}

func TestQuietStreamsSayThatTheyLive(t *testing.T) {
	s := start(t, func(o *httpserver.Options, _ *registry.Options, _ *policy.Options) {
		o.Heartbeat = 10 * time.Millisecond
	})
	events := s.watch(t, "/a/sse")
	comments := 0
	for comments < 3 && events.lines.Scan() {
		if strings.HasPrefix(events.lines.Text(), ":") {
			comments++
		}
	}
	if comments < 3 {
		t.Fatal("no comments on a quiet stream")
	}
}
