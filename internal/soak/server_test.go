package soak_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"legible.sh/mutex/internal/testlog"
)

// binary is the server under test, built once.
var binary string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "mutex-soak")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "mutex")
	if out, err := exec.Command("go", "build", "-o", binary, "legible.sh/mutex/cmd/mutex").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the server: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// server is one process of the server, on a port of its own.
type server struct {
	cmd    *exec.Cmd
	pid    int // of the server, whatever it runs under
	url    string
	client *http.Client
	log    *testlog.Buffer
	exited chan struct{}
}

// startServer runs the server on a data directory, under a wrapper (a tracer) if one is given.
func startServer(t *testing.T, data string, wrapper ...string) *server {
	t.Helper()
	return start(t, data, append(wrapper, binary, "serve", "--port", "0", "--data-dir", data)...)
}

func start(t *testing.T, data string, args ...string) *server {
	t.Helper()
	s := &server{cmd: exec.Command(args[0], args[1:]...), log: &testlog.Buffer{}, exited: make(chan struct{})}
	s.cmd.Env = []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	urls := make(chan string, 1)
	go s.read(bufio.NewScanner(stderr), urls)
	s.pid = s.cmd.Process.Pid
	t.Cleanup(s.kill)
	select {
	case s.url = <-urls:
	case <-s.exited:
		t.Fatalf("the server did not start:\n%s", s.log)
	case <-time.After(time.Minute):
		t.Fatalf("the server is not up after a minute:\n%s", s.log)
	}
	if args[0] == "strace" {
		s.pid = lockedBy(t, data)
	}
	s.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	return s
}

// read keeps the process's log, finds its address there, and sees its end.
func (s *server) read(lines *bufio.Scanner, urls chan<- string) {
	for lines.Scan() {
		fmt.Fprintln(s.log, lines.Text())
		if _, rest, ok := strings.Cut(lines.Text(), "msg=serving url="); ok {
			urls <- strings.Fields(rest)[0]
		}
	}
	_ = s.cmd.Wait()
	close(s.exited)
}

// lockedBy reads whose the data directory is.
func lockedBy(t *testing.T, data string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(data, "mutex.lock"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// kill is SIGKILL, and waits until the process is gone.
func (s *server) kill() {
	s.signal(syscall.SIGKILL)
	<-s.exited
	if s.client != nil {
		s.client.CloseIdleConnections()
	}
}

// signal reaches the server unless it has ended.
func (s *server) signal(sig syscall.Signal) {
	select {
	case <-s.exited:
	default:
		_ = syscall.Kill(s.pid, sig)
	}
}

// end is SIGTERM, and waits.
func (s *server) end(t *testing.T) {
	t.Helper()
	s.signal(syscall.SIGTERM)
	select {
	case <-s.exited:
	case <-time.After(time.Minute):
		t.Fatalf("the server does not end:\n%s", s.log)
	}
}

// call does one request; the status is 0 when there was no answer.
func (s *server) call(ctx context.Context, method, path string, header http.Header, answer any) (status int) {
	request, err := http.NewRequestWithContext(ctx, method, s.url+path, nil)
	if err != nil {
		panic(err)
	}
	request.Header = header
	response, err := s.client.Do(request)
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	if !decode(response, answer) {
		return 0 // the answer's end was lost: what came of the call is unknown
	}
	return response.StatusCode
}
