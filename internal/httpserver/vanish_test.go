package httpserver_test

import (
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"
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
