package supervise_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"legible.sh/mutex/internal/supervise"
)

// patience is how long a test waits for what must come; the machine may be busy.
const patience = 60 * time.Second

// supervised is one run in a process of its own.
type supervised struct {
	t     *testing.T
	dir   string
	cmd   *exec.Cmd
	apart bool // in a PID namespace of its own, whose numbers mean others here
}

// script is the argv of a shell script.
func script(text string) []string { return []string{"/bin/sh", "-c", text} }

// command prepares a supervisor; nothing is started yet.
func command(t *testing.T, o order) *supervised {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	if o.TTL == 0 {
		o.TTL = time.Minute
	}
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe")
	if exe, err := os.Executable(); err == nil {
		cmd.Path = exe
	}
	cmd.Env = append(os.Environ(), orderVar+"="+string(text))
	// Files, not pipes: waiting for the supervisor must not mean waiting for what its command left behind.
	cmd.Stdout, cmd.Stderr = create(t, o.Dir, "stdout"), create(t, o.Dir, "stderr")
	return &supervised{t: t, dir: o.Dir, cmd: cmd}
}

func create(t *testing.T, dir, name string) *os.File {
	t.Helper()
	file, err := os.Create(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return file
}

func start(t *testing.T, o order) *supervised {
	t.Helper()
	s := command(t, o)
	s.begin()
	return s
}

func (s *supervised) begin() {
	s.t.Helper()
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(s.cleanup)
}

// cleanup ends what a failed test has left.
func (s *supervised) cleanup() {
	if s.cmd.ProcessState == nil {
		s.cmd.Process.Kill()
		s.cmd.Wait()
	}
	files, _ := filepath.Glob(filepath.Join(s.dir, "*.pid"))
	for _, file := range files {
		if pid, err := pidIn(file); err == nil && !s.apart && alive(pid) {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	if s.t.Failed() {
		for _, name := range []string{"stdout", "stderr", "lease.log", "events", "outcome.json"} {
			s.t.Logf("%s:\n%s", name, s.read(name))
		}
	}
}

// wait gives the exit code, or 128+n when the supervisor itself was killed.
func (s *supervised) wait() int {
	s.t.Helper()
	done := make(chan error, 1)
	go func() { done <- s.cmd.Wait() }()
	select {
	case err := <-done:
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			s.t.Fatal(err)
		}
	case <-time.After(patience):
		s.cmd.Process.Kill()
		<-done
		s.t.Fatal("the run did not end")
	}
	status := s.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return 128 + int(status.Signal())
	}
	return status.ExitStatus()
}

func (s *supervised) outcome() result {
	s.t.Helper()
	var r result
	if err := json.Unmarshal([]byte(s.read("outcome.json")), &r); err != nil {
		s.t.Fatalf("outcome: %v", err)
	}
	return r
}

func (s *supervised) signal(sig syscall.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
}

// read gives a file of the directory, or nothing.
func (s *supervised) read(name string) string {
	text, _ := os.ReadFile(filepath.Join(s.dir, name))
	return string(text)
}

func (s *supervised) lines(name string) []string {
	return strings.FieldsFunc(s.read(name), func(r rune) bool { return r == '\n' })
}

// mode changes how the lease's service answers, in one step.
func (s *supervised) mode(mode string) {
	s.t.Helper()
	path := filepath.Join(s.dir, "lease.mode")
	if err := os.WriteFile(path+".new", []byte(mode), 0o600); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		s.t.Fatal(err)
	}
}

// pid waits for a process of the command to have written its pid to name.pid.
func (s *supervised) pid(name string) int {
	s.t.Helper()
	var pid int
	s.eventually(name+" has a pid", func() bool {
		var err error
		pid, err = pidIn(filepath.Join(s.dir, name+".pid"))
		return err == nil
	})
	return pid
}

// eventually waits until something is so.
func (s *supervised) eventually(what string, so func() bool) {
	s.t.Helper()
	eventually(s.t, what, so)
}

func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !so(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never came to be: %s", what)
		}
	}
}

// ends waits for a process to be gone.
func (s *supervised) ends(pid int) {
	s.t.Helper()
	s.eventually("the end of "+strconv.Itoa(pid), func() bool { return !alive(pid) })
}

// logged lists what the lease was asked, and when.
func (s *supervised) logged(what string) []supervise.Instant {
	var times []supervise.Instant
	for _, line := range s.lines("lease.log") {
		at, text, _ := strings.Cut(line, " ")
		if strings.HasPrefix(text, what) {
			n, err := strconv.ParseInt(at, 10, 64)
			if err != nil {
				s.t.Fatal(err)
			}
			times = append(times, supervise.Instant(n))
		}
	}
	return times
}

// event is a line of the events file.
type event struct {
	At    time.Time
	Event supervise.Kind
	Topic string
	Fence int64
	Left  *float64
	Code  *int
	Error string
}

func (s *supervised) events() []event {
	s.t.Helper()
	var events []event
	for _, line := range s.lines("events") {
		var e event
		decoder := json.NewDecoder(bytes.NewReader([]byte(line)))
		if err := decoder.Decode(&e); err != nil {
			s.t.Fatalf("event %q: %v", line, err)
		}
		events = append(events, e)
	}
	return events
}

func (s *supervised) has(kind supervise.Kind) bool {
	for _, e := range s.events() {
		if e.Event == kind {
			return true
		}
	}
	return false
}
