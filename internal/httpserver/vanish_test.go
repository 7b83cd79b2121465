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

	"legible.sh/mutex/internal/lease"
)

// TestClientsThatVanishLeaveNoLease lets clients hang up at a random moment: before the answer, while they wait, when it
// is on its way. Without a key, no lease may outlive its client by more than it takes to notice.
func TestClientsThatVanishLeaveNoLease(t *testing.T) {
	s := start(t, nil)
	const clients, each = 20, 100
	var work sync.WaitGroup
	for n := range clients {
		work.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(n)))
			for i := range each {
				vanish(t, s, fmt.Sprintf("/t%d?ttl=3600&wait=%d", (n*each+i)%50, i%2), time.Duration(random.IntN(400))*time.Microsecond, i%3 == 0)
			}
		})
	}
	work.Wait()
	for topic := range 50 {
		eventually(t, "free", func() bool {
			a := s.call(t, "GET", fmt.Sprint("/t", topic))
			return a.str("state") == "free" && a.json["waiting"] == 0.0
		})
	}
}

// vanish asks and hangs up without reading, with a reset or without.
func vanish(t *testing.T, s *server, path string, after time.Duration, reset bool) {
	c, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Error(err)
		return
	}
	defer c.Close()
	if _, err := fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: h\r\n\r\n", path); err != nil {
		t.Error(err)
	}
	time.Sleep(after)
	if reset {
		_ = c.(*net.TCPConn).SetLinger(0)
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
