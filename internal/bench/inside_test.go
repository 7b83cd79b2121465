package bench

import (
	"context"
	"errors"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestPercentiles(t *testing.T) {
	l, other := newLatencies(), newLatencies()
	for i := 1; i <= 1000; i++ {
		half := l
		if i%2 == 0 {
			half = other
		}
		half.record(time.Duration(i) * time.Millisecond)
	}
	l.merge(other)
	for p, want := range map[float64]time.Duration{50: 500 * time.Millisecond, 90: 900 * time.Millisecond, 99: 990 * time.Millisecond} {
		if got := l.percentile(p); got < want*999/1000 || got > want*1001/1000 {
			t.Errorf("p%g is %s, not %s", p, got, want)
		}
	}
	if l.record(time.Hour); l.count() != 1001 {
		t.Error("what is too long to measure is not counted")
	}
}

func TestFiguresAreMedians(t *testing.T) {
	var rounds []round
	for _, r := range [][2]float64{{10, 5}, {30, 40}, {20, 10}} {
		rounds = append(rounds, round{
			ours:  readings{{"throughput", "/s", r[0]}, {"alone", "", r[0]}},
			floor: readings{{"throughput", "/s", r[1]}},
		})
	}
	f := figures(rounds)
	if f[0].Value != 20 || *f[0].Floor != 10 || *f[0].Ratio != 2 || !slices.Equal(f[0].Rounds, []float64{10, 30, 20}) {
		t.Errorf("%+v", f[0])
	}
	if f[1].Value != 20 || f[1].Floor != nil || f[1].Ratio != nil {
		t.Errorf("%+v", f[1])
	}
	if got := median([]float64{4, 1, 3, 2}); got != 2.5 {
		t.Error("the median of an even number is", got)
	}
}

func TestTable(t *testing.T) {
	r := Report{Scenario: "cycles", Connections: 16, Seconds: 5, Figures: figures([]round{{
		ours: readings{{"throughput", "cycles/s", 12345.6}, {"p50", "µs", 9.87}}, floor: readings{{"throughput", "cycles/s", 24691.2}},
	}})}
	var b strings.Builder
	if err := r.print(&b, false); err != nil {
		t.Fatal(err)
	}
	want := `cycles, 16 connections, median of 1 × 5s
              server  floor  ratio            
  throughput   12346  24691   0.50  cycles/s  
         p50    9.87                      µs  
`
	squeeze := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	if squeeze(b.String()) != squeeze(want) {
		t.Errorf("got\n%s", b.String())
	}
}

// TestAnswersInPieces gives answers byte by byte, one behind the other.
func TestAnswersInPieces(t *testing.T) {
	const raw = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\ncontent-length: 5\r\n\r\nhello" +
		"HTTP/1.1 409 Conflict\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n" +
		"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
	c := served(t, raw)
	for _, want := range []answer{{200, []byte("hello")}, {409, []byte("abcde")}, {200, nil}} {
		got, err := c.receive()
		if err != nil || got.status != want.status || string(got.body) != string(want.body) {
			t.Fatalf("got %d %q, %v", got.status, got.body, err)
		}
	}
}

func TestAnswersThatAreNone(t *testing.T) {
	for _, raw := range []string{"SSH-2.0-OpenSSH_9.6\r\n", "HTTP/1.1 200 OK\r\n\r\nuntil it closes", "HTTP/1.1 200 OK\r\nContent-Le"} {
		if a, err := served(t, raw).receive(); err == nil {
			t.Errorf("%q was taken for %+v", raw, a)
		}
	}
}

// served is a connection to a server that says this, and then closes.
func served(t *testing.T, raw string) *conn {
	client, server := net.Pipe()
	go func() { // ends when all is read or the test closes its end
		for i := range raw {
			if _, err := server.Write([]byte{raw[i]}); err != nil {
				return
			}
		}
		_ = server.Close()
	}()
	c := newConn(t.Context(), client)
	t.Cleanup(c.close)
	return c
}

func TestAConnectionEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	client, server := net.Pipe()
	defer server.Close()
	c := newConn(ctx, client)
	defer c.close()
	cancel()
	if _, err := c.receive(); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error(err)
	}
}

func TestTargets(t *testing.T) {
	for raw, want := range map[string]target{
		"http://127.0.0.1:4185":    {network: "tcp", addr: "127.0.0.1:4185", header: "Host: 127.0.0.1:4185\r\n"},
		"http://[::1]:80/locks/":   {network: "tcp", addr: "[::1]:80", prefix: "/locks", header: "Host: [::1]:80\r\n"},
		"https://mutex.example":    {network: "tcp", addr: "mutex.example:443", header: "Host: mutex.example\r\n"},
		"unix:///run/mutex.sock":   {network: "unix", addr: "/run/mutex.sock", header: "Host: localhost\r\n"},
		"http://localhost/a%20dir": {network: "tcp", addr: "localhost:80", prefix: "/a dir", header: "Host: localhost\r\n"},
	} {
		got, err := parseTarget(raw, "")
		if err != nil || got.network != want.network || got.addr != want.addr || got.prefix != want.prefix || got.header != want.header {
			t.Errorf("%s: %+v, %v", raw, got, err)
		}
		if (got.tls != nil) != strings.HasPrefix(raw, "https") || got.loopback() == strings.Contains(raw, "example") {
			t.Errorf("%s: tls %v, loopback %v", raw, got.tls, got.loopback())
		}
	}
	got, err := parseTarget("http://a", "T0")
	if err != nil {
		t.Fatal(err)
	}
	if want := "POST /x?ttl=1 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer T1\r\nX-Name: me\r\nContent-Length: 0\r\n\r\n"; string(got.as("T1").request("POST", "/x?ttl=1", "X-Name: me")) != want {
		t.Errorf("%q", got.as("T1").request("POST", "/x?ttl=1", "X-Name: me"))
	}
}

// TestReferee plays scenes to it that are right, or wrong in one way.
func TestReferee(t *testing.T) {
	queue := func(r *referee, who ...int) {
		for _, i := range who {
			r.queues(i, 1)
		}
	}
	for name, scene := range map[string]struct {
		play func(r *referee) error
		says string
	}{
		"in order": {func(r *referee) error {
			queue(r, 0, 1, 2)
			r.sees([]string{"m1.1", "m2.1", "stranger", "m0.0"})
			_, _, err := r.granted(0, 1, time.Now())
			r.releases()
			_, handed, err1 := r.granted(1, 2, time.Now())
			if !handed {
				t.Error("a handoff was not seen as one")
			}
			return errors.Join(err, err1)
		}, ""},
		"two at once": {func(r *referee) error {
			queue(r, 0, 1)
			_, _, err := r.granted(0, 1, time.Now())
			_, _, err1 := r.granted(1, 2, time.Now())
			return errors.Join(err, err1)
		}, "m0.1 and m1.1 held at once"},
		"the same fence": {func(r *referee) error {
			queue(r, 0, 1)
			_, _, err := r.granted(0, 7, time.Now())
			r.releases()
			_, _, err1 := r.granted(1, 7, time.Now())
			return errors.Join(err, err1)
		}, "fence 7 after 7"},
		"ahead in the queue": {func(r *referee) error {
			queue(r, 0, 1)
			r.sees([]string{"m1.1", "m0.1"})
			_, _, err := r.granted(0, 1, time.Now())
			return err
		}, "m0.1 was granted before m1.1"},
		"in the queue before it asked": {func(r *referee) error {
			queue(r, 1)
			r.sees([]string{"m1.1"})
			queue(r, 0)
			_, _, err := r.granted(0, 1, time.Now())
			return err
		}, "m0.1 was granted before m1.1"},
		"order not known": {func(r *referee) error {
			queue(r, 0, 1)
			_, _, err := r.granted(1, 1, time.Now())
			return err
		}, ""},
		"came after the release": {func(r *referee) error {
			queue(r, 0)
			_, _, err := r.granted(0, 1, time.Now())
			r.releases()
			queue(r, 1)
			if _, handed, _ := r.granted(1, 2, time.Now()); handed {
				t.Error("an idle topic's grant was taken for a handoff")
			}
			return err
		}, ""},
	} {
		err := scene.play(newReferee(3))
		if scene.says == "" && err != nil || scene.says != "" && (err == nil || !strings.Contains(err.Error(), scene.says)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestProcess(t *testing.T) {
	me := process(os.Getpid())
	memory, err := me.memory()
	if err != nil || memory < 1<<20 {
		t.Errorf("memory %d, %v", memory, err)
	}
	before, err := me.cpu()
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; { // runs until it shows
		now, err := me.cpu()
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("CPU time stands still: %v", err)
		}
		if now > before {
			break
		}
	}
	if _, err := process(1 << 30).memory(); err == nil {
		t.Error("a process that is not there has memory")
	}
	if _, err := process(1 << 30).cpu(); err == nil {
		t.Error("a process that is not there has CPU time")
	}
}
