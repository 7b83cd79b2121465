package supervise_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"legible.sh/mutex/internal/supervise"
)

// family is a script whose processes note their pids: the command itself, a child that ignores TERM, INT and HUP,
// an orphan in a session of its own, and an orphan that ignores TERM too. The command itself notes its pid last, when it
// has run setup; tail is what it does then.
func family(setup, tail string) []string {
	return script(`
		note() { echo $$ > $DIR/$1.tmp; mv $DIR/$1.tmp $DIR/$1.pid; }
		sh -c 'trap "" TERM INT HUP; echo $$ > $DIR/stubborn.pid; exec sleep 1000' &
		setsid sh -c 'echo $$ > $DIR/session.pid; exec sleep 1000' &
		(setsid sh -c 'trap "" TERM; echo $$ > $DIR/orphan.pid; exec sleep 1000' &)
		` + setup + `
		note leader
		` + tail)
}

// forever is a tail that ends by a signal only.
const forever = "while :; do sleep 0.02; done"

var relatives = []string{"stubborn", "session", "orphan"}

func (s *supervised) family() (leader int, pids []int) {
	s.t.Helper()
	for _, name := range relatives {
		pids = append(pids, s.pid(name))
	}
	return s.pid("leader"), pids
}

// endedBeforeRelease checks that nothing of the family ran when the lease was released.
func (s *supervised) endedBeforeRelease() {
	s.t.Helper()
	log := s.read("lease.log")
	if !strings.Contains(log, "released") || !strings.Contains(log, "release with \n") {
		s.t.Errorf("released while something ran, or not at all:\n%s", log)
	}
}

func TestASignalEndsTheWholeTreeBeforeTheRelease(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sig         syscall.Signal
		setup, tail string
		code        int
	}{
		{syscall.SIGTERM, "", "wait", 143},
		{syscall.SIGINT, "", "wait", 130},
		{syscall.SIGQUIT, "", "wait", 131},
		{syscall.SIGHUP, "", "wait", 129},
		{syscall.SIGUSR1, "", "wait", 138}, // the command dies of it, and what it leaves must not stay
		{syscall.SIGTERM, "trap '' TERM", forever, 137},
	} {
		t.Run(c.sig.String()+" "+c.setup, func(t *testing.T) {
			s := start(t, order{Argv: family(c.setup, c.tail), Grace: 300 * time.Millisecond})
			leader, pids := s.family()
			s.signal(c.sig)
			if code := s.wait(); code != c.code {
				t.Errorf("exit %d, want %d", code, c.code)
			}
			for _, pid := range append(pids, leader) {
				if alive(pid) {
					t.Errorf("%d still runs", pid)
				}
			}
			s.endedBeforeRelease()
			if o := s.outcome(); o.Cause != supervise.CauseSignal || o.Lost {
				t.Errorf("outcome %+v", o)
			}
		})
	}
}

// TestACommandThatEndsInItsOwnWayKeepsItsCode, however long that takes it, and what it leaves is ended after it.
func TestACommandThatEndsInItsOwnWayKeepsItsCode(t *testing.T) {
	t.Parallel()
	s := start(t, order{Argv: family("trap 'exit 3' TERM", forever), Grace: 10 * time.Minute})
	_, pids := s.family()
	s.signal(syscall.SIGTERM)
	s.eventually("it ends", func() bool { return s.has(supervise.Exited) })
	if !alive(pids[0]) || len(s.logged("release")) != 0 {
		t.Error("its child that takes no TERM was not waited for")
	}
	go func() { // presses Ctrl-C until the run is gone: of presses in a hurry, some count as one
		for s.cmd.Process.Signal(syscall.SIGINT) == nil {
			time.Sleep(20 * time.Millisecond)
		}
	}()
	if code := s.wait(); code != 3 {
		t.Errorf("exit %d", code)
	}
	for i, pid := range pids {
		if alive(pid) {
			t.Errorf("%s still runs", relatives[i])
		}
	}
	s.endedBeforeRelease()
}

// TestWithoutAControlGroup needs root, to hide the control groups.
func TestWithoutAControlGroupTheTreeEndsAsWell(t *testing.T) {
	t.Parallel()
	s := command(t, order{Special: "bare", Argv: family("", "wait"), Grace: 300 * time.Millisecond})
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	if err := s.cmd.Start(); err != nil {
		t.Fatalf("this test needs to unshare the mount namespace (root): %v", err)
	}
	t.Cleanup(s.cleanup)
	s.family()
	s.signal(syscall.SIGTERM)
	if code := s.wait(); code != 143 {
		t.Errorf("exit %d", code)
	}
	s.endedBeforeRelease()
}

// TestWhatIgnoresAnInterruptIsToldToEnd: a shell's background children ignore it, and outlive the shell that does not.
func TestWhatIgnoresAnInterruptIsToldToEnd(t *testing.T) {
	t.Parallel()
	s := start(t, order{Argv: script("sleep 1000 & echo $! > $DIR/child.pid; wait"), Grace: 10 * time.Minute})
	child := s.pid("child")
	s.signal(syscall.SIGINT)
	if code := s.wait(); code != 130 || alive(child) {
		t.Errorf("exit %d, child alive: %v", code, alive(child))
	}
	s.endedBeforeRelease()
}

func TestASecondInterruptKillsAtOnce(t *testing.T) {
	t.Parallel()
	s := start(t, order{Argv: family("trap 'touch $DIR/heard' INT", forever), Grace: 10 * time.Minute})
	s.family()
	s.signal(syscall.SIGINT)
	s.eventually("the first is heard", func() bool { return exists(s.dir + "/heard") })
	time.Sleep(150 * time.Millisecond) // two presses of a person, not one press that came twice
	s.signal(syscall.SIGINT)
	if code := s.wait(); code != 137 {
		t.Errorf("exit %d", code)
	}
	s.endedBeforeRelease()
}

// TestSignalsReachTheWholeTree: each process says what it got.
func TestSignalsReachTheWholeTree(t *testing.T) {
	t.Parallel()
	signals := map[string]syscall.Signal{
		"HUP": syscall.SIGHUP, "INT": syscall.SIGINT, "QUIT": syscall.SIGQUIT, "USR1": syscall.SIGUSR1,
		"USR2": syscall.SIGUSR2, "WINCH": syscall.SIGWINCH, "ALRM": syscall.SIGALRM, "CONT": syscall.SIGCONT,
		"TERM": syscall.SIGTERM, "RTMIN+3": syscall.Signal(37),
	}
	for name, sig := range signals {
		t.Run(name, func(t *testing.T) {
			listener := fmt.Sprintf(`
				trap 'echo $1 >> $DIR/heard; [ -z "$2" ] || exit 0' %s
				echo $$ > $DIR/$1.pid
				while :; do sleep 0.02; done`, strings.Replace(name, "RTMIN+3", "37", 1))
			s := command(t, order{Argv: script(`
				sh $DIR/listen group x &
				setsid sh $DIR/listen session x &
				. $DIR/listen
				wait`), Grace: 10 * time.Minute})
			text := "set -- ${1:-leader} $2\n" + listener
			if err := os.WriteFile(filepath.Join(s.dir, "listen"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			s.begin()
			s.pid("group")
			s.pid("session")
			s.pid("leader")
			s.guard() // by then the rare signals are caught, too
			s.signal(sig)
			s.eventually("all three heard it", func() bool {
				heard := s.lines("heard")
				for _, who := range []string{"leader", "group", "session"} {
					if !slices.Contains(heard, who) && !shellIgnores(name, who) {
						return false
					}
				}
				return true
			})
			s.signal(syscall.SIGKILL)
		})
	}
}

// shellIgnores: a shell without job control starts what it puts in the background with INT and QUIT ignored, and a
// shell cannot trap what was ignored when it started.
func shellIgnores(sig, who string) bool {
	return who != "leader" && (sig == "INT" || sig == "QUIT")
}

func TestAStopAndAContinueOfTheCommandChangeNothing(t *testing.T) {
	t.Parallel()
	s := start(t, order{Argv: script("echo $$ > $DIR/leader.pid; sleep 0.3; exit 5"), TTL: 3 * time.Second})
	pid := s.pid("leader")
	syscall.Kill(pid, syscall.SIGSTOP)
	before := len(s.logged("renewed"))
	s.eventually("renewals go on while it is paused", func() bool { return len(s.logged("renewed")) > before+1 })
	syscall.Kill(pid, syscall.SIGCONT)
	if code := s.wait(); code != 5 {
		t.Errorf("exit %d", code)
	}
}

func TestAStoppedCommandEndsOnTerm(t *testing.T) {
	t.Parallel()
	s := start(t, order{Argv: script("trap 'exit 4' TERM; echo $$ > $DIR/leader.pid; while :; do sleep 0.1; done"), TTL: 3 * time.Second})
	pid := s.pid("leader")
	syscall.Kill(pid, syscall.SIGSTOP)
	s.eventually("it is stopped", func() bool { return state(pid) == 'T' })
	before := len(s.events())
	s.eventually("the run has seen that", func() bool { return len(s.events()) > before+1 })
	s.signal(syscall.SIGTERM)
	if code := s.wait(); code != 4 {
		t.Errorf("exit %d", code)
	}
}

// TestChildrenFromBeforeAreNotTheCommands: a shell that turns itself into the supervisor leaves it its children.
func TestChildrenFromBeforeAreNotTheCommands(t *testing.T) {
	t.Parallel()
	s := command(t, order{Argv: family("", "wait"), Grace: 100 * time.Millisecond})
	self := s.cmd.Path
	s.cmd.Path = "/bin/sh"
	s.cmd.Args = []string{"sh", "-c", `sleep 1000 & echo $! > $0/before.pid; exec "$1"`, s.dir, self}
	s.begin()
	before := s.pid("before")
	s.family()
	s.signal(syscall.SIGTERM)
	if code := s.wait(); code != 143 {
		t.Errorf("exit %d", code)
	}
	if !alive(before) {
		t.Error("a child from before was ended")
	}
}

func TestThreadsThatEndDoNotEndTheCommand(t *testing.T) {
	t.Parallel()
	s := start(t, order{Special: "threads", Argv: script("sleep 0.6; exit 6")})
	if code := s.wait(); code != 6 {
		t.Errorf("exit %d", code)
	}
}

// TestAsTheFirstProcessOfAContainer needs root, or user namespaces.
func TestAsTheFirstProcessOfAContainer(t *testing.T) {
	t.Parallel()
	prepare := func(tail string) *supervised {
		s := command(t, order{Special: "pid1", Argv: family("", tail), Grace: 200 * time.Millisecond})
		s.apart = true
		s.cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS, Unshareflags: syscall.CLONE_NEWNS}
		if os.Getuid() != 0 {
			s.cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		}
		return s
	}
	s := prepare(`for i in 1 2 3 4 5 6 7 8 9; do (sh -c 'exit 77' &) ; done
		for i in $(seq 1000); do ps -o stat= -e | grep -q Z || break; sleep 0.02; done
		ps -o stat= -e | grep -c Z; exit 42`)
	if err := s.cmd.Start(); err != nil {
		t.Fatalf("this test needs a PID namespace (root, or unprivileged user namespaces): %v", err)
	}
	t.Cleanup(s.cleanup)
	if code := s.wait(); code != 42 {
		t.Errorf("exit %d", code)
	}
	if zombies := s.read("stdout"); zombies != "0\n" {
		t.Errorf("zombies: %s", zombies)
	}

	s = prepare("wait")
	s.begin()
	s.family()
	s.signal(syscall.SIGTERM)
	if code := s.wait(); code != 143 {
		t.Errorf("exit %d", code)
	}
	s.endedBeforeRelease()
}

// controlGroups lists the directories that a process named as its control groups when it wrote /proc/self/cgroup.
func (s *supervised) controlGroups(file string) []string {
	var found []string
	for _, line := range s.lines(file) {
		if path, ok := strings.CutPrefix(line, "0::"); ok && strings.Contains(path, "mutex-run-") {
			found = append(found, "/sys/fs/cgroup"+path, "/sys/fs/cgroup/unified"+path)
		}
	}
	return found
}

func TestTheControlGroupIsTakenAway(t *testing.T) {
	t.Parallel()
	s := start(t, order{Argv: script("cat /proc/self/cgroup; sleep 1000 & echo $! > $DIR/child.pid")})
	if code := s.wait(); code != 0 {
		t.Errorf("exit %d", code)
	}
	for _, path := range s.controlGroups("stdout") {
		if exists(path) {
			t.Errorf("left: %s", path)
		}
	}
	if !alive(s.pid("child")) {
		t.Error("what was left running was ended")
	}
}

func TestTheToolsTheseTestsNeed(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"setsid", "ps", "sleep", "sh", "bash", "vim"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Errorf("install %s (Debian: util-linux, procps, coreutils, dash, bash, vim): %v", tool, err)
		}
	}
}
