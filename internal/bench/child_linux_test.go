package bench_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"legible.sh/mutex/internal/bench"
)

const pidFile = "BENCH_TEST_PID_FILE"

func init() { parts["play-parent"] = playParent }

// playParent measures a server of its own for longer than anyone will wait.
func playParent([]string) {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	o := quick("", "status")
	o.Self, o.Duration = true, time.Minute
	o.Serve = []string{"sh", "-c", `echo $$ > "$` + pidFile + `.new"; mv "$` + pidFile + `.new" "$` + pidFile + `"; exec "$@"`, "sh", exe, "play-server"}
	fmt.Println(bench.Run(context.Background(), o, &bytes.Buffer{}))
}

// TestAServerDiesWithItsBench kills a bench in a way that it cannot notice.
func TestAServerDiesWithItsBench(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	argv := program(t, "play-parent")
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), pidFile+"="+file)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pid string
	eventually(t, "the server has started", func() bool {
		text, err := os.ReadFile(file)
		pid = strings.TrimSpace(string(text))
		return err == nil && runs(pid)
	})
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	eventually(t, "the server has ended", func() bool { return !runs(pid) })
}

// runs tells whether a process is there and is more than an exit code to collect.
func runs(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	return err == nil && !bytes.Contains(stat, []byte(") Z "))
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); {
		if time.Now().After(deadline) {
			t.Fatal("never: ", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}
