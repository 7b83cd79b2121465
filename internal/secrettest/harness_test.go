package secrettest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"legible.sh/mutex/internal/testlog"
)

// bin is the directory with the binaries under test, built once.
var bin string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "mutex-secrettest")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if bin, err = filepath.EvalSymlinks(dir); err == nil {
		var out []byte
		if out, err = exec.Command("go", "build", "-o", bin, "legible.sh/mutex/cmd/...").CombinedOutput(); err != nil {
			err = fmt.Errorf("build: %w\n%s", err, out)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// command is one of our programs, with nothing in its environment but vars. It is killed a minute after the test.
func command(t *testing.T, vars []string, program string, args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, filepath.Join(bin, program), args...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}, vars...)
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// server is a server that runs with everything there is.
type server struct {
	url string
	cmd *exec.Cmd
	log *testlog.Buffer
}

var address = regexp.MustCompile(`(?:msg=serving url=|"msg":"serving","url":")(http://[0-9.:]+)`)

func serve(t *testing.T, vars []string, flags ...string) *server {
	t.Helper()
	s := &server{log: &testlog.Buffer{}}
	s.cmd = command(t, vars, "mutex", append([]string{"serve", "--port", "0", "--log-level", "debug"}, flags...)...)
	s.cmd.Stdout, s.cmd.Stderr = s.log, s.log
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.stop(t) })
	eventually(t, "the server is up", func() bool {
		if m := address.FindStringSubmatch(s.log.String()); m != nil {
			s.url = m[1]
		}
		return s.url != ""
	})
	return s
}

func (s *server) stop(t *testing.T) {
	if s.cmd.ProcessState != nil {
		return
	}
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("the server ended with %v: %s", err, s.log)
	}
}

// collector stands for an OpenTelemetry collector: what it is sent is evidence.
func collector(t *testing.T, e *evidence) (vars []string) {
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		e.add("a span", fmt.Sprint(r.Header, string(body)))
	}))
	t.Cleanup(receiver.Close)
	return []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + receiver.URL, "OTEL_BSP_SCHEDULE_DELAY=20"}
}

// watchProcesses keeps what a list of processes shows of our programs, until the function it gives is called.
func watchProcesses(e *evidence) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		shown := make(map[string]bool)
		for ; ctx.Err() == nil; time.Sleep(2 * time.Millisecond) {
			for _, line := range commandLines() {
				if !shown[line] {
					shown[line] = true
					e.add("the list of processes", line)
				}
			}
		}
	}()
	return func() { cancel(); <-done }
}

func commandLines() (lines []string) {
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range all {
		if exe, err := os.Readlink(dir + "/exe"); err != nil || filepath.Dir(exe) != bin {
			continue
		}
		args, _ := os.ReadFile(dir + "/cmdline")
		name, _ := os.ReadFile(dir + "/comm")
		lines = append(lines, string(name)+string(bytes.ReplaceAll(args, []byte{0}, []byte{' '})))
	}
	return lines
}

// result is what became of a command.
type result struct {
	code     int
	out, err string
}

// finish runs a command to its end.
func finish(t *testing.T, cmd *exec.Cmd) result {
	t.Helper()
	var out, words bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &words
	if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), words.String()}
}

// eventually waits for what must come.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("in vain: %s", what)
		}
	}
}

func write(t *testing.T, path string, lines ...string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
