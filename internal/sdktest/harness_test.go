package sdktest_test

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

var (
	seconds = flag.Int("sdktest.seconds", 40, "how long schemathesis looks for faults")
	seed    = flag.Int("sdktest.seed", 1, "what schemathesis draws its requests from")
)

const adminToken = "admin-token-of-the-tests"

// binary is the server under test, built once.
var binary string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	flag.Parse()
	dir, err := os.MkdirTemp("", "mutex-sdktest")
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

// serve runs the server on a free port of loopback until the test ends, and gives its URL.
func serve(t *testing.T, flags ...string) string {
	t.Helper()
	url, _ := process(t, flags...)
	return url
}

// process is serve, with what stops the server: the first call asks it to end. So does the end of the test.
func process(t *testing.T, flags ...string) (url string, stop func()) {
	t.Helper()
	cmd := exec.Command(binary, append([]string{"serve", "--port", "0"}, flags...)...)
	cmd.Env = []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "MUTEX_ADMIN_TOKEN=" + adminToken}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	urls, log, ended := make(chan string, 1), new(bytes.Buffer), make(chan struct{})
	// Reads the log, where the address stands, so that the server never waits for a reader. It ends with the process.
	go func() {
		defer close(ended)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			fmt.Fprintln(log, lines.Text())
			if _, rest, ok := strings.Cut(lines.Text(), "msg=serving url="); ok {
				urls <- strings.Fields(rest)[0]
			}
		}
	}()
	stop = sync.OnceFunc(func() {
		http.DefaultClient.CloseIdleConnections() // one that was never used would hold the server up for 5 s
		_ = cmd.Process.Signal(syscall.SIGTERM)
	})
	t.Cleanup(func() {
		stop()
		<-ended
		if err := cmd.Wait(); err != nil || strings.Contains(log.String(), "level=ERROR") {
			t.Errorf("the server ended with %v:\n%s", err, log)
		}
	})
	select {
	case url = <-urls:
	case <-ended:
		t.Fatalf("the server did not start:\n%s", log)
	case <-time.After(time.Minute):
		t.Fatal("the server is not up after a minute")
	}
	return url, stop
}

// cache is where install.sh puts the tools.
func cache(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("./install.sh", "where").Output()
	if err != nil {
		t.Fatalf("./install.sh where: %v", err)
	}
	return strings.TrimSpace(string(out))
}

// installed fails unless the tools that a file of this directory names are in the cache.
func installed(t *testing.T, names string) string {
	t.Helper()
	dir := cache(t)
	want, err := os.ReadFile(names)
	if err != nil {
		t.Fatal(err)
	}
	if have, err := os.ReadFile(filepath.Join(dir, "done", names)); err != nil || !bytes.Equal(have, want) {
		t.Fatalf("the tools of internal/sdktest/%s are not installed: run internal/sdktest/install.sh", names)
	}
	return dir
}

// tool runs a program in a directory, with more of an environment, and gives what it wrote to stdout. It fails the test,
// with all of the output, unless the program exits 0 within the time.
func tool(t *testing.T, limit time.Duration, dir string, env []string, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	// Whatever the program started ends with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, &stdout, &stderr)
	}
	return stdout.String()
}

func write(t *testing.T, name string, content []byte) {
	t.Helper()
	if err := os.WriteFile(name, content, 0o644); err != nil {
		t.Fatal(err)
	}
}
