package soak_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// The system calls of a server under load prove it: no answer to a change is written to its socket before an fdatasync of
// the journal has returned that began after the change's record was written. A kill proves nothing of the kind, since the
// page cache outlives it. The same proof must fail for a server that does not sync.
func TestAnswersFollowTheirSync(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Fatal("strace is not here; install it (apt-get install strace) or run make tools")
	}
	for mode, want := range map[string]bool{"always": true, "never": false} {
		t.Run("fsync="+mode, func(t *testing.T) {
			trace := filepath.Join(t.TempDir(), "trace")
			data := t.TempDir()
			s := start(t, data, "strace", "-f", "-qq", "-yy", "-s", "1000000", "-o", trace,
				"-e", "trace=write,writev,sendto,sendmsg,pwrite64,fdatasync", "-e", "signal=none",
				binary, "serve", "--port", "0", "--data-dir", data, "--fsync", mode)
			answered := traffic(t, s)
			s.end(t)
			p := readTrace(t, trace, answered)
			t.Logf("%d answers, %d after their sync, %d before it", len(answered), p.after, p.before)
			if p.after+p.before != len(answered) {
				t.Errorf("%d answers are missing from the trace", len(answered)-p.after-p.before)
			}
			if safe := p.before == 0; safe != want {
				t.Errorf("all answers after their sync: %v, want %v", safe, want)
			}
		})
	}
}

// traffic lets 16 clients take, renew and release, and says which record each answer rests on, by request id.
func traffic(t *testing.T, s *server) map[string]string {
	var mu sync.Mutex
	answered := map[string]string{}
	var all sync.WaitGroup
	for n := range clients {
		all.Go(func() {
			for turn := range 5 {
				topic := fmt.Sprintf("t%d", n)
				id := fmt.Sprintf("proof-%d-%d", n, turn)
				ask := func(method, path, kind, lease string) grant {
					var got grant
					header := http.Header{"X-Request-Id": {id + kind}, "X-Lease": {lease}}
					if lease == "" {
						header.Del("X-Lease")
					}
					if status := s.call(context.Background(), method, path, header, &got); status != http.StatusOK {
						t.Errorf("%s %s: status %d %s", method, path, status, got.Code)
					}
					mu.Lock()
					defer mu.Unlock()
					answered[id+kind] = recordKey(kind, max(lease, got.Lease), got.Expires.UnixMilli())
					return got
				}
				g := ask("POST", "/"+topic+"?ttl=60", "grant", "")
				ask("POST", "/"+topic+"/-/renew?ttl=60", "renew", g.Lease)
				ask("DELETE", "/"+topic+"/-", "release", g.Lease)
			}
		})
	}
	all.Wait()
	return answered
}

// recordKey tells one record from another; a lease may be renewed often.
func recordKey(kind, lease string, expires int64) string {
	if kind == "renew" {
		return fmt.Sprint(kind, lease, expires)
	}
	return kind + lease
}

// proof reads a trace from its beginning. The tracer stops each thread at each call's begin and end and writes down one
// after the other, so the order of its lines is one that the calls can be held to.
type proof struct {
	answered      map[string]string // request id: record
	written       map[string]bool   // records whose write has returned
	covered       map[string]map[string]bool
	safe          map[string]bool
	unfinished    map[string]string // by thread: the call that has begun
	after, before int
}

var (
	callLine   = regexp.MustCompile(`^(\d+) +(\w+)\((.*)$`)
	resumeLine = regexp.MustCompile(`^(\d+) +<\.\.\. (\w+) resumed>(.*)$`)
	recordText = regexp.MustCompile(`"t":"(grant|renew|release)","topic":"[^"]*","lease":"([0-9a-f]{32})"`)
	expiryText = regexp.MustCompile(`"expires":(\d+)`)
	requestID  = regexp.MustCompile(`X-Request-Id: (proof-\d+-\d+[a-z]+)`)
)

func readTrace(t *testing.T, name string, answered map[string]string) *proof {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p := &proof{answered: answered, written: map[string]bool{}, covered: map[string]map[string]bool{}, safe: map[string]bool{}, unfinished: map[string]string{}}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		p.line(lines.Text())
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *proof) line(text string) {
	if m := callLine.FindStringSubmatch(text); m != nil {
		thread, call, rest := m[1], m[2], m[3]
		begun, waits := strings.CutSuffix(rest, " <unfinished ...>")
		p.begin(thread, call, begun)
		if waits {
			p.unfinished[thread] = begun
		} else {
			p.end(thread, call, begun, rest)
		}
		return
	}
	if m := resumeLine.FindStringSubmatch(text); m != nil {
		p.end(m[1], m[2], p.unfinished[m[1]], m[3])
	}
}

// begin is where a call enters the kernel: an answer is on its way from here on, and a sync covers what was written
// before.
func (p *proof) begin(thread, call, args string) {
	switch {
	case call == "fdatasync" && strings.Contains(args, "mutex.jsonl"):
		covers := map[string]bool{}
		for key := range p.written {
			covers[key] = true
		}
		p.covered[thread] = covers
	case strings.Contains(args, "<TCP"):
		for _, m := range requestID.FindAllStringSubmatch(args, -1) {
			if p.safe[p.answered[m[1]]] {
				p.after++
			} else {
				p.before++
			}
		}
	}
}

// end is where a call returns.
func (p *proof) end(thread, call, args, result string) {
	switch {
	case call == "pwrite64" && strings.Contains(args, "mutex.jsonl"):
		for _, record := range strings.Split(strings.ReplaceAll(args, `\"`, `"`), `\n`) {
			if m := recordText.FindStringSubmatch(record); m != nil {
				var expires int64
				if e := expiryText.FindStringSubmatch(record); e != nil {
					_, _ = fmt.Sscan(e[1], &expires)
				}
				p.written[recordKey(m[1], m[2], expires)] = true
			}
		}
	case call == "fdatasync" && strings.HasSuffix(strings.TrimSpace(result), "= 0"):
		for key := range p.covered[thread] {
			p.safe[key] = true
		}
		delete(p.covered, thread)
	}
}
