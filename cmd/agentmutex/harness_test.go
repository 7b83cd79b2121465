package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain makes this test's binary stand for agentmutex where a test starts it as such.
func TestMain(m *testing.M) {
	if os.Getenv("TEST_AS_AGENTMUTEX") != "" {
		main()
	}
	os.Exit(m.Run())
}

// box is a directory with the state of one test, and the commands that work on it.
type box struct {
	t   testing.TB
	dir string
	env []string // beyond what every command gets
}

func newBox(t testing.TB) *box { return &box{t: t, dir: filepath.Join(t.TempDir(), "state")} }

// with is the box with more in the environment.
func (b *box) with(vars ...string) *box {
	return &box{t: b.t, dir: b.dir, env: append(append([]string{}, b.env...), vars...)}
}

// command is one command, to be started. It is killed when the test has ended, and after a minute.
func (b *box) command(args ...string) *exec.Cmd {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(b.t.Context()), time.Minute)
	b.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append([]string{
		"TEST_AS_AGENTMUTEX=1", "GORACE=atexit_sleep_ms=0", "PATH=" + os.Getenv("PATH"), "HOME=" + b.t.TempDir(),
		"AGENTMUTEX_DIR=" + b.dir, "AGENTMUTEX_AGENT=tester", "SELF=" + os.Args[0],
	}, b.env...)
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// result is what became of a command.
type result struct {
	t        testing.TB
	args     []string
	code     int
	out, err string
}

// run runs a command to its end.
func (b *box) run(args ...string) result {
	b.t.Helper()
	return finish(b.t, b.command(args...))
}

func finish(t testing.TB, cmd *exec.Cmd) result {
	t.Helper()
	var out, words bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &words
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return result{t, cmd.Args[1:], exitCode(cmd.ProcessState), out.String(), words.String()}
}

func exitCode(s *os.ProcessState) int {
	if status, ok := s.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return -int(status.Signal())
	}
	return s.ExitCode()
}

// wants checks the exit code, and that the words on stderr have the parts in them.
func (r result) wants(code int, parts ...string) result {
	r.t.Helper()
	if r.code != code {
		r.t.Errorf("%v: exit %d, want %d; printed %q, said %q", r.args, r.code, code, r.out, r.err)
	}
	for _, part := range parts {
		if !strings.Contains(r.err, part) {
			r.t.Errorf("%v said %q, without %q", r.args, r.err, part)
		}
	}
	return r
}

// prints checks that the output has the parts in it.
func (r result) prints(parts ...string) result {
	r.t.Helper()
	for _, part := range parts {
		if !strings.Contains(r.out, part) {
			r.t.Errorf("%v printed %q, without %q", r.args, r.out, part)
		}
	}
	return r
}

// json reads the output as JSON.
func (r result) json(v any) {
	r.t.Helper()
	if err := json.Unmarshal([]byte(r.out), v); err != nil {
		r.t.Fatalf("%v printed %q: %v", r.args, r.out, err)
	}
}

// token takes a key and gives the token that is printed.
func (b *box) token(args ...string) string {
	b.t.Helper()
	return strings.TrimSpace(b.run(append([]string{"acquire"}, args...)...).wants(0).out)
}

// holder is the path of a key's holder.json.
func (b *box) holder(key string) string { return filepath.Join(b.dir, "locks", key, "holder.json") }

// eventually polls until a condition holds.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// waiting is how many wait for a key.
func (b *box) waiting(key string) int {
	places, err := filepath.Glob(filepath.Join(b.dir, "locks", key, "queue", "*.json"))
	if err != nil {
		b.t.Fatal(err)
	}
	return len(places)
}

func (b *box) held(key string) bool {
	_, err := os.Stat(b.holder(key))
	return err == nil
}

func shell(t testing.TB, script string) *exec.Cmd {
	return exec.CommandContext(t.Context(), "sh", "-c", script)
}
