package supervise_test

import (
	"os/exec"
	"syscall"
	"testing"
	"time"

	"legible.sh/mutex/internal/supervise"
)

func TestASignalInTheQueueEndsTheWait(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{
		syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2,
	} {
		s := start(t, order{Special: "queue"})
		s.pid("queued")
		s.signal(sig)
		if code := s.wait(); code != 128+int(sig) {
			t.Errorf("%v: exit %d", sig, code)
		}
	}
}

func TestWhatDoesNotEndAProgramDoesNotEndTheWait(t *testing.T) {
	t.Parallel()
	s := start(t, order{Special: "queue"})
	s.pid("queued")
	s.signal(syscall.SIGWINCH)
	s.signal(syscall.SIGCONT)
	s.signal(syscall.SIGPIPE)
	s.signal(syscall.SIGTERM)
	if code := s.wait(); code != 143 {
		t.Errorf("exit %d", code)
	}
}

// TestASignalBetweenGrantAndStart: the command never starts, and the lease is given back.
func TestASignalBetweenGrantAndStart(t *testing.T) {
	t.Parallel()
	s := start(t, order{Special: "interrupted", Argv: script("touch $DIR/ran")})
	if code := s.wait(); code != 130 || exists(s.dir+"/ran") || len(s.logged("released")) != 1 {
		t.Errorf("exit %d, log:\n%s", code, s.read("lease.log"))
	}
	if o := s.outcome(); o.Cause != supervise.CauseSignal {
		t.Errorf("outcome %+v", o)
	}
}

// TestAnIgnoredHangupStaysIgnored is what nohup counts on, for the command too.
func TestAnIgnoredHangupStaysIgnored(t *testing.T) {
	t.Parallel()
	s := command(t, order{
		Argv: script("echo $$ > $DIR/leader.pid; until [ -e $DIR/stop ]; do sleep 0.05; done; exit 5"), Grace: time.Second,
	})
	self := s.cmd.Path
	s.cmd.Path, s.cmd.Args = "/bin/sh", []string{"sh", "-c", `trap "" HUP; exec "$0"`, self}
	s.begin()
	leader := s.pid("leader")
	s.signal(syscall.SIGHUP)
	syscall.Kill(leader, syscall.SIGHUP)
	create(t, s.dir, "stop")
	if code := s.wait(); code != 5 {
		t.Errorf("exit %d", code)
	}
}

// TestTheCommandIgnoresNothingThatWeDoNot: what is ignored is inherited, so nothing may be ignored for our own ends.
func TestTheCommandStartsWithTheSignalsThatWeHad(t *testing.T) {
	t.Parallel()
	// What this process ignores (a C library under the race detector ignores one of its own) is inherited, by the command
	// and by any other child; nothing is to come on top of it.
	grep := []string{"/bin/grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"}
	want, err := exec.Command(grep[0], grep[1:]...).Output()
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, order{Argv: grep})
	s.wait()
	if got := s.read("stdout"); got != string(want) {
		t.Errorf("the command starts with %q, another child with %q", got, want)
	}
}
