package supervise_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"legible.sh/mutex/internal/supervise"
)

// guards lists the guards that a process has started.
func guards(t *testing.T, parent int) []int {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var found []int
	for _, file := range files {
		text, _ := os.ReadFile(file)
		if !strings.HasPrefix(string(text), "lease-guard\x00") {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		stat, _ := os.ReadFile(filepath.Dir(file) + "/stat")
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if len(fields) > 1 && fields[1] == strconv.Itoa(parent) && alive(pid) {
			found = append(found, pid)
		}
	}
	return found
}

// guard waits for the run to have its guard.
func (s *supervised) guard() int {
	s.t.Helper()
	var found []int
	s.eventually("one guard", func() bool {
		found = guards(s.t, s.cmd.Process.Pid)
		return len(found) == 1
	})
	return found[0]
}

func TestAKilledRunTakesItsWholeTreeAlong(t *testing.T) {
	t.Parallel()
	for name, special := range map[string]string{"with a control group": "", "without": "bare"} {
		t.Run(name, func(t *testing.T) {
			// The command ignores TERM, as some of its children do: asking does not end them.
			s := command(t, order{
				Argv: family("cat /proc/self/cgroup; trap '' TERM", forever), Special: special,
				TTL: time.Hour, Grace: 300 * time.Millisecond,
			})
			s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			if special == "bare" {
				s.cmd.SysProcAttr.Unshareflags = syscall.CLONE_NEWNS
			}
			s.begin()
			leader, pids := s.family()
			guard := s.guard()
			syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL) // the run's whole group, as a shell would
			for _, pid := range append(pids, leader) {
				s.ends(pid)
			}
			s.ends(guard)
			for _, path := range s.controlGroups("stdout") {
				if exists(path) {
					t.Errorf("left: %s", path)
				}
			}
		})
	}
}

func TestAKilledRunEndsItsTreeAtTheDeadlineAtTheLatest(t *testing.T) {
	t.Parallel()
	s := start(t, order{Argv: writer, TTL: 2 * time.Second, Grace: 10 * time.Minute})
	leader := s.pid("leader")
	s.guard()
	s.eventually("a renewal", func() bool { return len(s.logged("renewed")) > 0 })
	s.signal(syscall.SIGKILL)
	s.ends(leader)
	confirmed := s.logged("renewed")
	if end := confirmed[len(confirmed)-1].Add(2 * time.Second); s.lastWrite() > end.Add(2*time.Second) {
		t.Errorf("outlived the lease by more than a ttl: wrote until %v after its end", s.lastWrite().Sub(end))
	}
}

func TestAKilledRunThatWasStoppedPastTheDeadline(t *testing.T) {
	t.Parallel()
	s := start(t, order{Argv: writer, TTL: time.Second, Grace: 10 * time.Minute})
	leader := s.pid("leader")
	s.guard()
	s.signal(syscall.SIGSTOP)
	end := supervise.Now().Add(1200 * time.Millisecond)
	s.eventually("the ttl is over", func() bool { return supervise.Now() > end })
	s.signal(syscall.SIGKILL)
	s.ends(leader)
}

func TestAGuardThatWasKilledIsReplaced(t *testing.T) {
	t.Parallel()
	s := start(t, order{Argv: family("", "wait"), TTL: time.Hour, Grace: 300 * time.Millisecond})
	leader, pids := s.family()
	first := s.guard()
	syscall.Kill(first, syscall.SIGKILL)
	s.eventually("another guard", func() bool {
		now := guards(t, s.cmd.Process.Pid)
		return len(now) == 1 && now[0] != first
	})
	s.signal(syscall.SIGKILL)
	for _, pid := range append(pids, leader) {
		s.ends(pid)
	}
}

func TestTheGuardEndsWithTheRunAndTouchesNothing(t *testing.T) {
	t.Parallel()
	s := start(t, order{Argv: family("", "until [ -e $DIR/stop ]; do sleep 0.05; done")})
	_, pids := s.family()
	guard := s.guard()
	create(t, s.dir, "stop")
	if code := s.wait(); code != 0 || alive(guard) {
		t.Errorf("exit %d, guard %v", code, guard)
	}
	for i, pid := range pids {
		if !alive(pid) {
			t.Errorf("%s was ended", relatives[i])
		}
	}
}

// TestThePidsOfTheGuardAreNotOurs: the guard has its own name and session, so that what is meant for the run does not
// hit it too.
func TestTheGuardStandsApart(t *testing.T) {
	t.Parallel()
	s := start(t, order{Argv: script("echo $$ > $DIR/leader.pid; exec sleep 1000")})
	s.pid("leader")
	guard := s.guard()
	dir := "/proc/" + strconv.Itoa(guard)
	s.eventually("its own name", func() bool {
		name, _ := os.ReadFile(dir + "/comm")
		return string(name) == "lease-guard\n"
	})
	environ, err := os.ReadFile(dir + "/environ")
	if err != nil || strings.Contains(string(environ), "DIR=") || strings.Contains(string(environ), orderVar) {
		t.Errorf("environment: %q %v", environ, err)
	}
	for _, fd := range []string{"0", "1", "2"} {
		if to, err := os.Readlink(dir + "/fd/" + fd); err != nil || !strings.HasPrefix(to, "pipe:") {
			t.Errorf("descriptor %s is %s, %v", fd, to, err)
		}
	}
	s.signal(syscall.SIGTERM)
	s.wait()
}

// TestTheCommandItselfNeedsNoGuard: the kernel's parent-death signal reaches it.
func TestTheCommandItselfNeedsNoGuard(t *testing.T) {
	t.Parallel()
	s := start(t, order{Argv: script("echo $$ > $DIR/leader.pid; exec sleep 1000")})
	leader, guard := s.pid("leader"), s.guard()
	syscall.Kill(guard, syscall.SIGSTOP)
	s.signal(syscall.SIGKILL)
	s.ends(leader)
	syscall.Kill(guard, syscall.SIGCONT)
	s.ends(guard)
}
