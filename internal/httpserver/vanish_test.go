package httpserver_test

import (
	"crypto/tls"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"legible.sh/mutex/internal/httpserver"
	"legible.sh/mutex/internal/lease"
	"legible.sh/mutex/internal/policy"
	"legible.sh/mutex/registry"
)

// TestClientsThatVanishLeaveNoLease lets clients hang up in every way at a random moment: before their request is whole,
// before the answer, while they wait, when it is on its way. Without a key, no lease may outlive its client by more than
// it takes to notice; with one, none may outlive its ttl, and no place the time it is kept.
func TestClientsThatVanishLeaveNoLease(t *testing.T) {
	s := start(t, func(_ *httpserver.Options, r *registry.Options, _ *policy.Options) { r.Keep = time.Second })
	const atOnce, topics = 20, 50
	each := 500
	if testing.Short() {
		each = 50
	}
	var work sync.WaitGroup
	for n := range atOnce {
		work.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(n)))
			for i := range each {
				topic, wait := (n*each+i)%topics, i%2
				request := fmt.Sprintf("POST /t%d?ttl=3600&wait=%d HTTP/1.1\r\nHost: h\r\n\r\n", topic, wait)
				if i%4 >= 2 {
					request = fmt.Sprintf("POST /k%d?ttl=2&wait=%d HTTP/1.1\r\nHost: h\r\nIdempotency-Key: %d-%d\r\n\r\n", topic, wait, n, i)
				}
				vanish(t, s, request, random)
			}
		})
	}
	work.Wait()
	for topic := range topics {
		for _, kind := range []string{"t", "k"} {
			name := fmt.Sprint(kind, topic)
			eventually(t, name+" is free", func() bool {
				a := s.call(t, "GET", "/"+name)
				return (a.str("state") == "free" || a.json["capacity"] == nil) && a.json["waiting"] == 0.0
			})
		}
	}
}

// vanish sends a request, or the first part of it, and hangs up a moment later without having read the answer. Only one
// who closes just half of the connection reads: nobody could tell from afar that it did not, so if it was granted
// something it gives that back.
func vanish(t *testing.T, s *server, request string, random *rand.Rand) {
	c, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Error(err)
		return
	}
	defer c.Close()
	tcp := c.(*net.TCPConn)
	way := random.IntN(5)
	if way == 0 {
		request = request[:random.IntN(len(request))]
	}
	if _, err := io.WriteString(c, request); err != nil {
		t.Error(err)
	}
	// Mostly about when the answer is made, sometimes long after it.
	time.Sleep(time.Duration(random.IntN([]int{400, 400, 4000}[random.IntN(3)])) * time.Microsecond)
	switch way {
	case 1:
		_ = tcp.SetLinger(0) // a reset
	case 2:
		_ = tcp.CloseWrite()
		answer, _ := io.ReadAll(c)
		if _, lease, ok := strings.Cut(string(answer), `"lease": "`); ok {
			path := strings.Fields(request)[1]
			s.call(t, "DELETE", path[:strings.Index(path, "?")]+"/"+lease[:32])
		}
	case 3: // in the middle of the answer, if there is one by now
		_ = c.SetReadDeadline(time.Now().Add(time.Millisecond))
		_, _ = c.Read(make([]byte, 1))
	}
}

// TestOneWhoReadAndHungUpKeepsItsLease is the other side: curl reads its grant and closes the connection.
func TestOneWhoReadAndHungUpKeepsItsLease(t *testing.T) {
	s := start(t, nil)
	for i := range 50 {
		c := s.dial(t, fmt.Sprintf("POST /t%d?ttl=3600 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", i))
		b := make([]byte, 4096)
		for {
			if _, err := c.Read(b); err != nil {
				break
			}
		}
		c.Close()
		keep := s.dial(t, fmt.Sprintf("POST /k%d?ttl=3600 HTTP/1.1\r\nHost: h\r\n\r\n", i))
		if _, err := keep.Read(b); err != nil {
			t.Fatal(err)
		}
		keep.Close()
	}
	s.CloseClientConnections()
	for i := range 50 {
		for _, topic := range []string{"t", "k"} {
			if a := s.call(t, "GET", fmt.Sprint("/", topic, i)); a.str("state") != "held" {
				t.Errorf("%s%d: a lease was taken from one who has it", topic, i)
			}
		}
	}
}

// TestAResetLongAfterTheAnswerTakesNothing is a proxy that ends its idle connections with a reset, as many do.
func TestAResetLongAfterTheAnswerTakesNothing(t *testing.T) {
	s := start(t, nil)
	c := s.dial(t, "POST /a?ttl=3600 HTTP/1.1\r\nHost: h\r\n\r\n")
	if _, err := c.Read(make([]byte, 4096)); err != nil {
		t.Fatal(err)
	}
	time.Sleep(1100 * time.Millisecond) // longer than any client takes to read what has come
	if err := c.(*net.TCPConn).SetLinger(0); err != nil {
		t.Fatal(err)
	}
	c.Close()
	eventually(t, "the server has noticed", func() bool { return s.closed.Load() == 1 })
	if !s.held(t, "a") {
		t.Error("a lease was taken from one who has it")
	}
}

// TestUnderTLSOneWhoReadAndHungUpKeepsItsLease hangs up as some TLS libraries do: without a goodbye, so that the server's
// own goodbye meets a closed socket.
func TestUnderTLSOneWhoReadAndHungUpKeepsItsLease(t *testing.T) {
	s := prepare(t, nil)
	s.StartTLS()
	for i := range int64(40) {
		header := [2]string{"", "Connection: close\r\n"}[i%2]
		raw, err := net.Dial("tcp", s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		c := tls.Client(raw, &tls.Config{InsecureSkipVerify: true})
		if _, err := fmt.Fprintf(c, "POST /t%d?ttl=3600 HTTP/1.1\r\nHost: h\r\n%s\r\n", i, header); err != nil {
			t.Fatal(err)
		}
		if n, err := c.Read(make([]byte, 4096)); n == 0 {
			t.Fatal(err)
		}
		raw.Close()
		eventually(t, "the server has noticed", func() bool { return s.closed.Load() == i+1 })
		if !s.held(t, lease.Topic(fmt.Sprint("t", i))) {
			t.Fatalf("connection %d, %q: a lease was taken from one who has it", i, header)
		}
	}
}

// TestUnderTLSClientsThatVanishLeaveNoLease is the other side.
func TestUnderTLSClientsThatVanishLeaveNoLease(t *testing.T) {
	s := prepare(t, nil)
	s.StartTLS()
	for i := range 40 {
		raw, err := net.Dial("tcp", s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		c := tls.Client(raw, &tls.Config{InsecureSkipVerify: true})
		if _, err := fmt.Fprintf(c, "POST /t?ttl=3600 HTTP/1.1\r\nHost: h\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		eventually(t, "granted", func() bool { return s.held(t, "t") })
		if i%2 == 0 {
			_ = raw.(*net.TCPConn).SetLinger(0)
		}
		raw.Close() // with the answer unread: a reset either way
		eventually(t, "free", func() bool { return !s.held(t, "t") })
	}
}

// held tells whether a topic is held, without a connection.
func (s *server) held(t *testing.T, topic lease.Topic) bool {
	t.Helper()
	answer, err := s.registry.Do(t.Context(), topic, &lease.Command{Op: lease.Look})
	if err != nil {
		t.Fatal(err)
	}
	return len(answer.Status.Holders) > 0
}

// TestHalfAConnectionIsNeverAnsweredWithoutALease lets clients close their own half of the connection and read on. They
// count as gone; what they must never read is a 200 without a grant.
func TestHalfAConnectionIsNeverAnsweredWithoutALease(t *testing.T) {
	s := start(t, nil)
	s.acquire(t, "/held")
	for i := range 200 {
		path := "/held?wait=60"
		if i%2 == 0 {
			path = fmt.Sprintf("/t%d?ttl=3600", i)
		}
		c := s.dial(t, fmt.Sprintf("POST %s HTTP/1.1\r\nHost: h\r\n\r\n", path))
		if err := c.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(c)
		if len(b) > 0 && !strings.Contains(string(b), `"lease":`) {
			t.Fatalf("request %d was granted nothing and answered %q", i, b)
		}
		c.Close()
	}
	eventually(t, "nobody waits", func() bool { return s.waiting(t, "held") == 0 })
}
