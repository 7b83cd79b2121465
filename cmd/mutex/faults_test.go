package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"syscall"
	"testing"
)

// lossy passes requests on to a server and loses the first answers to each method: the server has done what was
// asked, and the client cannot know.
type lossy struct {
	to   string
	lose int

	mu   sync.Mutex // guards lost, which requests share
	lost map[string]int
}

func (l *lossy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	out, err := http.NewRequestWithContext(context.WithoutCancel(r.Context()), r.Method, l.to+r.URL.RequestURI(), r.Body)
	if err != nil {
		panic(err)
	}
	out.Header = r.Header.Clone()
	answer, err := http.DefaultTransport.RoundTrip(out)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || l.loses(r.Method) {
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(answer.StatusCode)
	_, _ = w.Write(body)
}

func (l *lossy) loses(method string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lost[method]++
	return l.lost[method] <= l.lose
}

func (s *server) behindLossy(t *testing.T) (vars []string) {
	t.Helper()
	proxy := httptest.NewServer(&lossy{to: s.url, lose: 3, lost: map[string]int{}})
	t.Cleanup(proxy.Close)
	return []string{"MUTEX_URL=" + proxy.URL, "MUTEX_ADMIN_TOKEN=" + adminToken}
}

// TestLostAnswers: an answer that was lost on its way leaves no lock that nobody knows of, and costs none.
func TestLostAnswers(t *testing.T) {
	s := startServer(t)
	vars := s.behindLossy(t)
	r := run(t, mutex(t, vars, "acquire", "t", "--wait", "0")).wants(t, 0)
	if field(t, r.out, "fence") != "1" {
		t.Error("granted more than once:", r.out)
	}
	lease := field(t, r.out, "lease")
	run(t, mutex(t, vars, "renew", "t", lease)).wants(t, 0)
	run(t, mutex(t, vars, "release", "t", lease)).wants(t, 0)
	s.mutex("status", "t", "--exit-code").wants(t, 3)

	again := s.behindLossy(t)
	run(t, mutex(t, again, "run", "t", "--", "sh", "-c", "exit 9")).wants(t, 9)
	s.mutex("status", "t", "--exit-code").wants(t, 3)
}

// TestAWaitRidesOutARestart: who queues while the server is down and up again gets the lease after all.
func TestAWaitRidesOutARestart(t *testing.T) {
	s := startServer(t)
	s.grantFile("t", "--ttl", "1h")
	end := begin(t, mutex(t, s.vars(), "acquire", "t", "--wait", "40"))
	eventually(t, "it queues", func() bool { _, n := s.status("t"); return n == 1 })
	s.stop()
	s.start() // it remembers nothing, so the topic is free
	end().wants(t, 0, "trying again for ")
}

// TestAServerThatIsKilledAndStartedAgain: a run goes on for as long as its lease may live, and notices when the
// server that is back does not know it.
func TestARunWhoseServerForgotItIsLost(t *testing.T) {
	s := startServer(t)
	dir := t.TempDir()
	cmd := mutex(t, s.vars(), "run", "t", "--ttl", "3", "--", "sh", "-c", "touch "+dir+"/up; exec sleep 60")
	end := begin(t, cmd)
	eventually(t, "the command runs", func() bool { _, err := os.Stat(dir + "/up"); return err == nil })
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = s.cmd.Wait()
	s.start()
	end().wants(t, 75, "lost")
}

// TestAGrantThatNobodyReadsIsGivenBack: its reader is gone, or the disk that should take it is full.
func TestAGrantThatNobodyReadsIsGivenBack(t *testing.T) {
	s := startServer(t)
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer write.Close()
	if err := read.Close(); err != nil {
		t.Fatal(err)
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	for _, out := range []*os.File{write, full} {
		cmd := mutex(t, s.vars(), "acquire", "t", "u")
		cmd.Stdout = out
		if err := cmd.Run(); err == nil || exitCode(cmd.ProcessState) != 1 {
			t.Errorf("%s: %v", out.Name(), err)
		}
		s.mutex("status", "t", "--exit-code").wants(t, 3)
		s.mutex("status", "u", "--exit-code").wants(t, 3)
	}
}

// TestAKilledWaiterIsPassedOver: nothing is granted to who is not there to hold it.
func TestAKilledWaiterIsPassedOver(t *testing.T) {
	s := startServer(t)
	file, _ := s.grantFile("t")
	dead := mutex(t, s.vars(), "acquire", "t")
	end := begin(t, dead)
	eventually(t, "it queues", func() bool { _, n := s.status("t"); return n == 1 })
	if err := dead.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	end()
	next := begin(t, mutex(t, s.vars(), "acquire", "t"))
	eventually(t, "the next one queues", func() bool { _, n := s.status("t"); return n == 2 })
	s.mutex("release", "t", "--lease-file", file).wants(t, 0)
	next().wants(t, 0)
}
