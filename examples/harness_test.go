package examples_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"legible.sh/mutex/api"
	"legible.sh/mutex/api/client"
)

// bin is where mutex and the examples written in Go are, once built; url is a server's.
var bin, url string

func TestMain(m *testing.M) {
	code, err := withServer(m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// withServer builds what the examples need and has a server of its own while it runs them.
func withServer(run func() int) (code int, err error) {
	if bin, err = os.MkdirTemp("", "examples"); err != nil {
		return 1, err
	}
	defer os.RemoveAll(bin)
	if out, err := exec.Command("go", "build", "-o", bin, "../cmd/mutex", "./sqlite").CombinedOutput(); err != nil {
		return 1, fmt.Errorf("go build: %w: %s", err, out)
	}
	os.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	server := exec.Command("mutex", "serve", "--port", "0")
	server.Env = append(os.Environ(), "MUTEX_ADMIN_TOKEN=admin-5ecret-0123456789")
	log, err := server.StderrPipe()
	if err != nil {
		return 1, err
	}
	if err := server.Start(); err != nil {
		return 1, err
	}
	defer func() {
		_ = server.Process.Signal(syscall.SIGTERM)
		_ = server.Wait()
	}()
	for lines := bufio.NewScanner(log); lines.Scan(); {
		if m := regexp.MustCompile(`msg=serving url=(\S+)`).FindStringSubmatch(lines.Text()); m != nil {
			url = m[1]
			os.Setenv("MUTEX_URL", url)
			return run(), nil
		}
	}
	return 1, fmt.Errorf("the server did not start")
}

// zombie has one holder of topic sleep through the end of its lease, and another come after it.
func zombie(t *testing.T, topic string) (late, heir *api.Grant) {
	t.Helper()
	c, err := client.New(url)
	if err != nil {
		t.Fatal(err)
	}
	if late, err = c.Grant(t.Context(), topic, client.TTL(100*time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if heir, err = c.Grant(t.Context(), topic, client.TTL(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if heir.Fence <= late.Fence {
		t.Fatalf("fences %d, %d", late.Fence, heir.Fence)
	}
	t.Cleanup(func() { _, _ = c.Release(context.Background(), topic, heir.Lease) })
	return late, heir
}

// result is what became of a command.
type result struct {
	code     int
	out, err string
}

// run runs a command in dir for a minute at most.
func run(t *testing.T, dir, stdin string, env []string, name string, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Stdin, cmd.WaitDelay = dir, strings.NewReader(stdin), 5*time.Second
	cmd.Env = append(os.Environ(), env...)
	var out, words bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &words
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Error(err)
		return result{code: -1}
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), words.String()}
}

// must runs what has to succeed and gives what it printed.
func must(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	r := run(t, dir, "", nil, name, args...)
	if r.code != 0 {
		t.Errorf("%s %q: exit %d: %s", name, args, r.code, r.err)
	}
	return strings.TrimSpace(r.out)
}

// script is an example's file, wherever it is run.
func script(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(name)
	if err != nil {
		t.Error(err)
	}
	return path
}

func fenceOf(n int64) []string { return []string{"MUTEX_FENCE=" + strconv.FormatInt(n, 10)} }
