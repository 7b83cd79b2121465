package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"legible.sh/mutex/internal/supervise"
	"legible.sh/mutex/internal/testlog"
)

// TestMain makes this test's binary stand for mutex where a test starts it as such.
func TestMain(m *testing.M) {
	supervise.WatcherMain()
	if url := os.Getenv("TEST_AS_BARE"); url != "" {
		os.Exit(bare(url))
	}
	if os.Getenv("TEST_AS_MUTEX") != "" {
		main()
	}
	if signal.Ignored(syscall.SIGINT) { // as a script starts what it puts in the background, these tests for one
		signal.Notify(make(chan os.Signal, 1), syscall.SIGINT) // what is caught is not ignored after an exec
	}
	os.Exit(m.Run())
}

const adminToken = "admin-5ecret-0123456789"

// mutex is one command with nothing of ours in its environment but vars, which are NAME=value. It is killed when the
// test has ended, and after a minute.
func mutex(t testing.TB, vars []string, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = environ(t, vars)
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

func environ(t testing.TB, vars []string) []string {
	t.Helper()
	fixed := []string{"TEST_AS_MUTEX=1", "GORACE=atexit_sleep_ms=0", "PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	return append(fixed, vars...)
}

// result is what became of a command.
type result struct {
	code     int
	out, err string
}

// run runs a command to its end.
func run(t testing.TB, cmd *exec.Cmd) result {
	t.Helper()
	var out, words bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &words
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return result{exitCode(cmd.ProcessState), out.String(), words.String()}
}

func exitCode(s *os.ProcessState) int {
	if status, ok := s.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return -int(status.Signal())
	}
	return s.ExitCode()
}

func (r result) wants(t testing.TB, code int, parts ...string) result {
	t.Helper()
	if r.code != code {
		t.Errorf("exit %d, want %d; printed %q, said %q", r.code, code, r.out, r.err)
	}
	for _, part := range parts {
		if !strings.Contains(r.err, part) {
			t.Errorf("said %q, without %q", r.err, part)
		}
	}
	return r
}

// server is a server of its own in a process of its own.
type server struct {
	t    testing.TB
	args []string
	env  []string
	url  string
	cmd  *exec.Cmd
	log  *testlog.Buffer
}

// startServer starts a server on a port that was free a moment ago, so that it can be started there again.
func startServer(t testing.TB, args ...string) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	s := &server{
		t: t, url: "http://" + address, log: &testlog.Buffer{}, env: []string{"MUTEX_ADMIN_TOKEN=" + adminToken},
		args: append([]string{"serve", "--listen", address, "--log-level", "info"}, args...),
	}
	s.start()
	t.Cleanup(s.stop)
	return s
}

func (s *server) start() {
	s.t.Helper()
	s.cmd = exec.Command(os.Args[0], s.args...) // stop ends it, after the test's own end
	s.cmd.Env = environ(s.t, s.env)
	out, err := s.cmd.StderrPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	up := make(chan bool, 1)
	go func() { // reads the log until the process ends
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			fmt.Fprintln(s.log, lines.Text())
			if strings.Contains(lines.Text(), "serving") {
				up <- true
			}
		}
		close(up)
	}()
	if !<-up {
		s.t.Fatalf("the server did not start: %s", s.log)
	}
}

func (s *server) stop() {
	if s.cmd.ProcessState != nil {
		return
	}
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	if err := s.cmd.Wait(); err != nil {
		s.t.Errorf("the server ended with %v: %s", err, s.log)
	}
}

// mutex runs a command against the server.
func (s *server) mutex(args ...string) result {
	s.t.Helper()
	return run(s.t, mutex(s.t, s.vars(), args...))
}

func (s *server) vars() []string {
	return []string{"MUTEX_URL=" + s.url, "MUTEX_ADMIN_TOKEN=" + adminToken}
}

// grantFile acquires topic and keeps the grant in a file.
func (s *server) grantFile(args ...string) (file string, lease string) {
	s.t.Helper()
	r := s.mutex(append([]string{"acquire"}, args...)...).wants(s.t, 0)
	file = filepath.Join(s.t.TempDir(), "grant.json")
	if err := os.WriteFile(file, []byte(r.out), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return file, field(s.t, r.out, "lease")
}

// field takes a text field out of indented JSON.
func field(t testing.TB, text, name string) string {
	t.Helper()
	m := regexp.MustCompile(`(?m)^  "` + name + `": "?([^",]*)"?,?$`).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("no %s in %s", name, text)
	}
	return m[1]
}

// status gives a topic's state and how many wait.
func (s *server) status(topic string) (state string, waiting int) {
	s.t.Helper()
	var v struct {
		State   string
		Waiting int
	}
	r := s.mutex("status", topic).wants(s.t, 0)
	if err := json.Unmarshal([]byte(r.out), &v); err != nil {
		s.t.Fatal(err)
	}
	return v.State, v.Waiting
}

// eventually waits for what must come.
func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !is(); {
		if time.Now().After(end) {
			t.Fatalf("in vain: %s", what)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// begin starts a command in the background. end waits for it.
func begin(t testing.TB, cmd *exec.Cmd) (end func() result) {
	t.Helper()
	var out, words testlog.Buffer
	cmd.Stdout, cmd.Stderr = &out, &words
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return func() result {
		var exit *exec.ExitError
		if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
			t.Error(err)
		}
		return result{exitCode(cmd.ProcessState), out.String(), words.String()}
	}
}
