package supervise_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"legible.sh/mutex/internal/supervise"
)

func TestLeftoversAreNamedAndLeft(t *testing.T) {
	t.Parallel()
	s := start(t, order{Argv: family("", "exit 9")})
	if code := s.wait(); code != 9 {
		t.Errorf("exit %d", code)
	}
	_, pids := s.family()
	o := s.outcome()
	for i, pid := range pids {
		if !alive(pid) {
			t.Errorf("%s was ended", relatives[i])
		}
		if !strings.Contains(s.read("stderr"), fmt.Sprintf("%d (", pid)) {
			t.Errorf("%s is not named: %s", relatives[i], s.read("stderr"))
		}
		if !slices.ContainsFunc(o.Leftovers, func(p supervise.Process) bool { return p.PID == pid }) {
			t.Errorf("%s is not in %v", relatives[i], o.Leftovers)
		}
	}
	if len(s.logged("released")) != 1 {
		t.Error("not released")
	}
}

func TestLeftoversAreKilledWhenAsked(t *testing.T) {
	t.Parallel()
	s := start(t, order{Argv: family("", "exit 9"), Leftovers: supervise.KillThem, Grace: 200 * time.Millisecond})
	if code := s.wait(); code != 9 {
		t.Errorf("exit %d", code)
	}
	s.endedBeforeRelease()
}

// TestALeftoverThatRunsAwayIsNotTakenForGone: each of its processes lives for a moment and starts the next, so that a walk
// over all processes may see none of them.
func TestALeftoverThatRunsAwayIsNotTakenForGone(t *testing.T) {
	t.Parallel()
	for range 5 {
		s := command(t, order{
			Special: "bare", Argv: []string{"bash", "-c", `exec 9> $DIR/open; f() { [ -e $DIR/stop ] || f & }; f; exit 9`},
			Leftovers: supervise.KillThem, Grace: 50 * time.Millisecond,
		})
		path := filepath.Join(s.dir, "open")
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		open, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_NONBLOCK, 0)
		if err != nil {
			t.Fatal(err)
		}
		s.cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
		s.begin()
		code := s.wait()
		_, err = syscall.Read(open, make([]byte, 1)) // the end, unless somebody still has it open
		syscall.Close(open)
		create(t, s.dir, "stop")
		if o := s.outcome(); code != 9 || len(o.Leftovers) == 0 || err != nil {
			t.Errorf("exit %d, left %v, and open: %v", code, o.Leftovers, err)
		}
	}
}

func TestLeftoversAreAwaitedWhenAsked(t *testing.T) {
	t.Parallel()
	s := start(t, order{Argv: family("", "exit 9"), Leftovers: supervise.AwaitThem, TTL: 3 * time.Second})
	leader, pids := s.family()
	s.ends(leader)
	before := len(s.logged("renewed"))
	s.eventually("renewals go on", func() bool { return len(s.logged("renewed")) > before+1 })
	if len(s.logged("release")) != 0 {
		t.Error("released while they ran")
	}
	for _, pid := range pids {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	if code := s.wait(); code != 9 {
		t.Errorf("exit %d", code)
	}
	s.endedBeforeRelease()
}

// TestATreeWhoseCommandIsGoneEndsAsWell: its group may be another's by now, and what is left stands in sessions of its own.
func TestATreeWhoseCommandIsGoneEndsAsWell(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		by   func(*supervised)
		then supervise.Cause
	}{
		{"by a signal", func(s *supervised) { s.signal(syscall.SIGTERM) }, supervise.CauseSignal},
		{"by the loss", func(s *supervised) { s.mode("lost") }, supervise.CauseLost},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := start(t, order{
				Argv: family("", "exit 9"), Leftovers: supervise.AwaitThem, TTL: 3 * time.Second, Grace: 300 * time.Millisecond,
			})
			leader, pids := s.family()
			s.ends(leader)
			s.eventually("it is known", func() bool { return s.has(supervise.Exited) })
			c.by(s)
			if code := s.wait(); code != 9 {
				t.Errorf("exit %d", code)
			}
			for i, pid := range pids {
				if alive(pid) {
					t.Errorf("%s still runs", relatives[i])
				}
			}
			if o := s.outcome(); o.Cause != c.then {
				t.Errorf("outcome %+v", o)
			}
			if c.then == supervise.CauseSignal {
				s.endedBeforeRelease()
			}
		})
	}
}

func TestWhatCannotBeKilledKeepsTheLease(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, to run as somebody who may not signal the command")
	}
	t.Parallel()
	dir, err := os.MkdirTemp("/var/tmp", "supervise") // below a directory that anybody may enter
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	strong := filepath.Join(dir, "strong")
	ours, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(strong, ours, 0o755), os.Chmod(strong, 0o755|os.ModeSetuid), os.Chown(dir, nobody, nobody)); err != nil {
		t.Fatal(err)
	}
	s := command(t, order{Dir: dir, Argv: script(orderVar + `='{"Special":"rights","Dir":"'$DIR'"}' exec $DIR/strong`), Grace: 100 * time.Millisecond})
	s.cmd.Path = "/proc/self/exe"
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	s.begin()
	pid := s.pid("strong")
	s.signal(syscall.SIGTERM)
	if code := s.wait(); code != 137 || !alive(pid) {
		t.Errorf("exit %d, alive: %v", code, alive(pid))
	}
	if o := s.outcome(); !o.Undead || len(o.Leftovers) != 1 || o.Leftovers[0].PID != pid || o.ReleaseErr == "" {
		t.Errorf("outcome %+v", o)
	}
	said := s.read("stderr")
	if len(s.logged("release")) != 0 || !strings.Contains(said, fmt.Sprintf("cannot be killed: %d (strong)", pid)) || !strings.Contains(said, "ends by itself at") {
		t.Errorf("log %q, said %q", s.read("lease.log"), said)
	}
}

const nobody = 65534

func TestAnOpenStdoutDoesNotDelayTheReturn(t *testing.T) {
	t.Parallel()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	s := command(t, order{Argv: script("sleep 1000 & echo $! > $DIR/child.pid; exit 0")})
	s.cmd.Stdout = write
	s.begin()
	write.Close()
	if code := s.wait(); code != 0 {
		t.Errorf("exit %d", code)
	}
	if !alive(s.pid("child")) {
		t.Error("the child that holds stdout was ended")
	}
}
