//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// wire is a connection to a server that may go silent: from then on it takes everything and passes nothing on, as a
// network does that swallows packets.
type wire struct {
	to     string
	silent atomic.Bool
}

func startWire(t *testing.T, to string) (w *wire, url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	w = &wire{to: strings.TrimPrefix(to, "http://")}
	go func() { // accepts until the test's end closes the listener
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			go w.serve(near)
		}
	}()
	return w, "http://" + l.Addr().String()
}

func (w *wire) serve(near net.Conn) {
	defer near.Close()
	far, err := net.Dial("tcp", w.to)
	if err != nil {
		return
	}
	defer far.Close()
	go w.pump(near, far)
	w.pump(far, near)
}

func (w *wire) pump(to, from net.Conn) {
	defer to.Close()
	buffer := make([]byte, 4096)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		if w.silent.Load() {
			continue
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// try is one command that writes under a lease whose server goes silent.
type try struct {
	topic, file string
	end         func() result
	next        chan grant // whoever holds the topic after it; closed without one if nobody does
}

type grant struct {
	Fence   int64
	TTL     float64
	Expires time.Time
}

func (g grant) since() time.Time { return g.Expires.Add(-time.Duration(g.TTL * float64(time.Second))) }

// writes is a command that ignores TERM, and with a child in a session of its own writes for as long as it lives.
const writes = `trap "" TERM
	write() { while :; do echo >> "$0"; read -r -t 0.02 -u 3; done; }
	mkfifo "$0.pipe" && exec 3<> "$0.pipe"
	export -f write; setsid bash -c "trap '' TERM; write" "$0" &
	write`

// silencedTTL is long enough for many to start before the first is lost, on a machine that is busy.
const silencedTTL = 5 * time.Second

func startTries(t *testing.T, s *server, url string, n int) []*try {
	t.Helper()
	dir := t.TempDir()
	tries := make([]*try, n)
	for i := range tries {
		topic := fmt.Sprintf("t%d", i)
		one := &try{topic: topic, file: filepath.Join(dir, topic), next: make(chan grant, 1)}
		one.end = begin(t, mutex(t, []string{"MUTEX_URL=" + url}, "run", topic, "--ttl", silencedTTL.String(), "--", "bash", "-c", writes, one.file))
		tries[i] = one
	}
	for _, one := range tries {
		eventually(t, "it writes", func() bool { info, err := os.Stat(one.file); return err == nil && info.Size() > 1 })
		go one.queue(t, s.url)
		eventually(t, "the next one queues", func() bool { return waiting(t, s.url, one.topic) == 1 })
	}
	return tries
}

func waiting(t *testing.T, url, topic string) int {
	t.Helper()
	answer, err := http.Get(url + "/" + topic)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var v struct{ Waiting int }
	if err := json.NewDecoder(answer.Body).Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v.Waiting
}

// queue waits for the topic at the server itself.
func (one *try) queue(t *testing.T, url string) {
	defer close(one.next)
	answer, err := http.Post(url+"/"+one.topic+"?wait=120&ttl=1", "", nil)
	if err != nil {
		t.Error(err)
		return
	}
	defer answer.Body.Close()
	var g grant
	if err := json.NewDecoder(answer.Body).Decode(&g); err != nil || answer.StatusCode != http.StatusOK {
		t.Errorf("%s: %s, %v", one.topic, answer.Status, err)
		return
	}
	one.next <- g
}

// leaseEnds reads in a server's journal when the first lease of each topic ends.
func leaseEnds(t *testing.T, dataDir string) map[string]time.Time {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dataDir, "mutex.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	ends, first := map[string]time.Time{}, map[string]string{}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan() && len(lines.Bytes()) > 0; { // blank lines stand ready
		var r struct {
			Topic, Lease string
			Expires      int64
		}
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		if r.Expires == 0 {
			continue
		}
		if first[r.Topic] == "" {
			first[r.Topic] = r.Lease
		}
		if first[r.Topic] == r.Lease {
			ends[r.Topic] = time.UnixMilli(r.Expires)
		}
	}
	return ends
}

// coarse is how far a file's time may lag behind: the longest tick of a kernel.
const coarse = 10 * time.Millisecond

// check compares the last write with the lease's end, as the server has it, and with the next grant. It gives the time
// between the first two.
func (one *try) check(t *testing.T, end time.Time) time.Duration {
	t.Helper()
	info, err := os.Stat(one.file)
	if err != nil {
		t.Fatal(err)
	}
	last := info.ModTime().Add(coarse)
	next := <-one.next
	switch {
	case end.IsZero() || !last.Before(end):
		t.Errorf("%s: wrote until %v, the lease ended at %v", one.topic, last, end)
	case next.Fence != 2 || next.since().Before(end) || !last.Before(next.since()):
		t.Errorf("%s: the next holder has fence %d since %v; wrote until %v, the lease ended at %v",
			one.topic, next.Fence, next.since(), last, end)
	}
	return end.Sub(last)
}

// TestTheLastWriteComesBeforeTheServerCanGrantAgain: a hundred times, a server that was frozen or cannot be reached any
// more costs the command its life before it costs it the lease.
func TestTheLastWriteComesBeforeTheServerCanGrantAgain(t *testing.T) {
	rounds, each := 2, 25
	if testing.Short() {
		rounds, each = 1, 5
	}
	closest := time.Hour
	for range rounds {
		frozenDir, farDir := t.TempDir(), t.TempDir()
		frozen, far := startServer(t, "--data-dir", frozenDir), startServer(t, "--data-dir", farDir)
		signal := func(sig syscall.Signal) { _ = frozen.cmd.Process.Signal(sig) }
		t.Cleanup(func() { signal(syscall.SIGCONT) }) // so that it can be stopped after a failure
		wire, url := startWire(t, far.url)
		tries, farTries := startTries(t, frozen, frozen.url, each), startTries(t, far, url, each)
		signal(syscall.SIGSTOP)
		wire.silent.Store(true)
		for _, one := range append(tries, farTries...) {
			one.end().wants(t, 75, "lease lost")
		}
		signal(syscall.SIGCONT)
		frozenEnds, farEnds := leaseEnds(t, frozenDir), leaseEnds(t, farDir)
		for _, one := range tries {
			closest = min(closest, one.check(t, frozenEnds[one.topic]))
		}
		for _, one := range farTries {
			closest = min(closest, one.check(t, farEnds[one.topic]))
		}
	}
	t.Logf("%d tries; the last write was %v or more before the lease's end", 2*rounds*each, closest)
}
