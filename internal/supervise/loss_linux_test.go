package supervise_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"legible.sh/mutex/internal/supervise"
)

func TestARefusedRenewalEndsTheWholeTree(t *testing.T) {
	t.Parallel()
	s := start(t, order{Argv: family("", "wait"), TTL: 3 * time.Second, Grace: 300 * time.Millisecond})
	leader, pids := s.family()
	s.mode("lost")
	s.wait()
	for _, pid := range append(pids, leader) {
		if alive(pid) {
			t.Errorf("%d still runs", pid)
		}
	}
	if o := s.outcome(); o.Cause != supervise.CauseLost || !o.Lost {
		t.Errorf("outcome %+v", o)
	}
	if len(s.logged("release")) != 0 {
		t.Error("a lost lease was released")
	}
	if !s.has(supervise.Lost) || !strings.Contains(s.read("stderr"), "lease lost: no such lease") {
		t.Errorf("not said: %s", s.read("stderr"))
	}
}

// writer appends the boot clock's reading to a file for as long as it lives, as a command would write to what the
// lease protects; it ignores TERM.
var writer = script(`trap "" TERM; echo $$ > $DIR/leader.pid
	while :; do cut -d' ' -f1 /proc/uptime >> $DIR/writes; done`)

// lastWrite is the time of the command's last whole line.
func (s *supervised) lastWrite() supervise.Instant {
	s.t.Helper()
	text := s.read("writes")
	lines := strings.Split(text[:strings.LastIndexByte(text, '\n')], "\n")
	at, err := strconv.ParseFloat(lines[len(lines)-1], 64)
	if err != nil {
		s.t.Fatal(err)
	}
	return supervise.Instant(at * 1e9)
}

func TestTheLastWriteComesBeforeAnotherCanHoldTheLease(t *testing.T) {
	for _, mode := range []string{"hang", "fail"} {
		t.Run(mode, func(t *testing.T) {
			s := start(t, order{Argv: writer, TTL: 4 * time.Second})
			s.eventually("a renewal", func() bool { return len(s.logged("renewed")) > 1 })
			s.mode(mode)
			if code := s.wait(); code != 137 {
				t.Errorf("exit %d", code)
			}
			if o := s.outcome(); o.Cause != supervise.CauseLost {
				t.Errorf("outcome %+v", o)
			}
			confirmed := s.logged("renewed")
			// The service counts from when it took the last renewal in, which is after that was sent.
			if end := confirmed[len(confirmed)-1].Add(4 * time.Second); s.lastWrite() > end {
				t.Errorf("wrote until %v after the lease's end", s.lastWrite().Sub(end))
			}
		})
	}
}

func TestADeadServerIsRiddenOut(t *testing.T) {
	t.Parallel()
	s := start(t, order{Argv: script("until [ -e $DIR/stop ]; do sleep 0.05; done; exit 5"), TTL: 5 * time.Second})
	s.eventually("a renewal", func() bool { return len(s.logged("renewed")) > 0 })
	s.mode("fail")
	asked := len(s.logged("renew"))
	s.eventually("it is tried again", func() bool { return len(s.logged("renew")) > asked+1 })
	s.mode("ok")
	before := len(s.logged("renewed"))
	s.eventually("renewed again", func() bool { return len(s.logged("renewed")) > before+1 })
	create(t, s.dir, "stop")
	if code := s.wait(); code != 5 {
		t.Errorf("exit %d", code)
	}
	if o := s.outcome(); o.Cause != supervise.CauseExit || o.Lost {
		t.Errorf("outcome %+v", o)
	}
	if !s.has(supervise.Uncertain) {
		t.Error("nobody was told")
	}
	for _, words := range []string{"could not be renewed (connection refused)", "renewed again"} {
		if !strings.Contains(s.read("stderr"), words) {
			t.Errorf("stderr lacks %q", words)
		}
	}
}

func TestAStopPastTheTTLIsKnownBeforeAnyoneIsAsked(t *testing.T) {
	t.Parallel()
	s := start(t, order{Argv: writer, TTL: 3 * time.Second})
	s.pid("leader")
	s.eventually("a renewal", func() bool { return len(s.logged("renewed")) > 0 })
	s.signal(syscall.SIGSTOP)
	s.eventually("it is stopped", func() bool { return state(s.cmd.Process.Pid) == 'T' })
	asked := len(s.logged("renew"))
	end := supervise.Now().Add(3200 * time.Millisecond)
	s.eventually("the ttl is over", func() bool { return supervise.Now() > end })
	s.signal(syscall.SIGCONT)
	s.wait()
	if now := len(s.logged("renew")); now != asked {
		t.Errorf("asked %d times more", now-asked)
	}
	if o := s.outcome(); o.Cause != supervise.CauseLost {
		t.Errorf("outcome %+v", o)
	}
}

func state(pid int) byte {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	return text[strings.LastIndexByte(string(text), ')')+2]
}

func TestALossMayBeLeftToTheCommand(t *testing.T) {
	t.Parallel()
	s := start(t, order{
		Argv: script("until [ -e $DIR/stop ]; do sleep 0.05; done; exit 5"), TTL: time.Second,
		OnLoss: supervise.Continue, LossHook: script("echo hook; touch $DIR/hooked"),
	})
	s.mode("lost")
	s.eventually("the hook ran", func() bool { return s.lines("stderr") != nil && exists(s.dir+"/hooked") })
	create(t, s.dir, "stop")
	if code := s.wait(); code != 5 {
		t.Errorf("exit %d", code)
	}
	if o := s.outcome(); o.Cause != supervise.CauseExit || !o.Lost || len(o.Leftovers) > 0 {
		t.Errorf("outcome %+v", o)
	}
	if strings.Contains(s.read("stdout"), "hook") {
		t.Error("the hook wrote to the command's stdout")
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func TestAHookThatHangsIsEnded(t *testing.T) {
	t.Parallel()
	s := start(t, order{
		Argv: script("exec sleep 1000"), TTL: time.Second, Grace: 300 * time.Millisecond,
		LossHook: script("echo $$ > $DIR/hook.pid; sleep 1000"),
	})
	s.mode("lost")
	s.wait() // which the hook would hold up for longer than a test may take
	if pid, err := pidIn(s.dir + "/hook.pid"); err == nil && alive(pid) {
		t.Error("the hook still runs")
	}
}

func TestMaxHold(t *testing.T) {
	t.Parallel()
	s := start(t, order{Argv: family("", "wait"), MaxHold: 500 * time.Millisecond, Grace: 300 * time.Millisecond})
	s.wait() // on a busy machine, before all of the family is there
	if o := s.outcome(); o.Cause != supervise.CauseMaxHold || o.Lost {
		t.Errorf("outcome %+v", o)
	}
	s.endedBeforeRelease()
}

func TestAReclaimedLeaseIsSaid(t *testing.T) {
	t.Parallel()
	s := start(t, order{Argv: script("until [ -e $DIR/stop ]; do sleep 0.05; done"), TTL: 3 * time.Second})
	s.mode("reclaim")
	s.eventually("the event", func() bool { return s.has(supervise.Reclaimed) })
	create(t, s.dir, "stop")
	if code := s.wait(); code != 0 {
		t.Errorf("exit %d", code)
	}
	events := s.events()
	if last := events[len(events)-1]; last.Event != supervise.Released || last.Fence != 8 {
		t.Errorf("last event %+v", last)
	}
	if !strings.Contains(s.read("stderr"), "taken back: the fence is 8 now") {
		t.Errorf("stderr %q", s.read("stderr"))
	}
}

func TestAnAnswerAfterTheReleaseIsIgnored(t *testing.T) {
	t.Parallel()
	s := start(t, order{Argv: script("until [ -e $DIR/stop ]; do sleep 0.05; done"), TTL: 6 * time.Second})
	s.mode("late")
	s.eventually("a renewal is out", func() bool { return len(s.logged("renew")) > 0 })
	create(t, s.dir, "stop")
	if code := s.wait(); code != 0 {
		t.Errorf("exit %d", code)
	}
	if o := s.outcome(); o.Lost || o.ReleaseErr != "" {
		t.Errorf("outcome %+v", o)
	}
	late, release := s.logged("late answer"), s.logged("release with")
	if len(late) != 1 || len(release) != 1 || release[0] < late[0] {
		t.Errorf("the release overtook the renewal:\n%s", s.read("lease.log"))
	}
}

func TestAGrantOutOfAQueueIsConfirmedFirst(t *testing.T) {
	t.Parallel()
	s := start(t, order{Argv: script("touch $DIR/ran"), TTL: 5 * time.Second, Age: 25 * time.Second})
	if code := s.wait(); code != 0 || len(s.logged("renewed")) != 1 || !exists(s.dir+"/ran") {
		t.Errorf("exit %d, log:\n%s", code, s.read("lease.log"))
	}
}

func TestALeaseLostInTheQueueNeverStartsTheCommand(t *testing.T) {
	t.Parallel()
	s := command(t, order{Argv: script("touch $DIR/ran"), TTL: 5 * time.Second, Age: 25 * time.Second})
	s.mode("lost")
	s.begin()
	s.wait()
	if o := s.outcome(); o.Cause != supervise.CauseLost || exists(s.dir+"/ran") {
		t.Errorf("outcome %+v", o)
	}
}

func TestAReleaseIsTriedAgain(t *testing.T) {
	t.Parallel()
	s := start(t, order{Argv: script("until [ -e $DIR/stop ]; do sleep 0.05; done; exit 3")})
	s.mode("fail")
	create(t, s.dir, "stop")
	s.eventually("it is tried again", func() bool { return len(s.logged("release with")) > 1 })
	s.mode("gone") // by the attempt whose answer was an error
	if code := s.wait(); code != 3 {
		t.Errorf("exit %d", code)
	}
	if o := s.outcome(); o.ReleaseErr != "" {
		t.Errorf("outcome %+v", o)
	}
}

func TestAReleaseThatFailsIsSaid(t *testing.T) {
	t.Parallel()
	s := command(t, order{Argv: script("exit 3"), Grace: 300 * time.Millisecond})
	s.mode("fail")
	s.begin()
	begun := time.Now()
	if code := s.wait(); code != 3 {
		t.Errorf("exit %d", code)
	}
	o := s.outcome()
	if o.ReleaseErr != errDown.Error() || o.Ends.Sub(begun) > 70*time.Second || o.Ends.Before(begun) {
		t.Errorf("outcome %+v", o)
	}
	if !strings.Contains(s.read("stderr"), "it ends by itself at "+o.Ends.Local().Format(time.TimeOnly)) {
		t.Errorf("stderr %q", s.read("stderr"))
	}
}

func TestAReleaseOfWhatHadEndedIsSaid(t *testing.T) {
	t.Parallel()
	s := command(t, order{Argv: script("exit 3")})
	s.mode("gone")
	s.begin()
	if code := s.wait(); code != 3 || !strings.Contains(s.read("stderr"), "had already ended") || !s.has(supervise.Lost) {
		t.Errorf("exit %d, stderr %q, events %+v", code, s.read("stderr"), s.events())
	}
}

func TestAnEndingSignalDoesNotWaitForTheRelease(t *testing.T) {
	t.Parallel()
	s := command(t, order{Argv: script("exit 3"), Grace: 10 * time.Minute, TTL: time.Hour})
	s.mode("hang")
	s.begin()
	s.eventually("the release is out", func() bool { return len(s.logged("release with")) > 0 })
	s.signal(syscall.SIGINT)
	if code := s.wait(); code != 3 {
		t.Errorf("exit %d", code)
	}
}

func TestTheEventsOfARun(t *testing.T) {
	t.Parallel()
	s := start(t, order{Argv: script("until [ -e $DIR/stop ]; do sleep 0.05; done; exit 5"), TTL: 3 * time.Second})
	s.eventually("a renewal", func() bool { return s.has(supervise.Renewed) })
	create(t, s.dir, "stop")
	s.wait()
	var exited, released bool
	for _, e := range s.events() {
		if e.Topic != "deploy" || e.Fence != 7 || time.Since(e.At) > patience || e.Left == nil {
			t.Errorf("event %+v", e)
		}
		switch e.Event {
		case supervise.Renewed:
			if *e.Left <= 0 || *e.Left > 3 {
				t.Errorf("time left: %+v", e)
			}
		case supervise.Exited:
			exited = e.Code != nil && *e.Code == 5
		case supervise.Released:
			released = exited
		}
	}
	if !released {
		t.Errorf("events %+v", s.events())
	}
}

func TestAStderrThatNobodyReadsHoldsNothingUp(t *testing.T) {
	t.Parallel()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	fill := make([]byte, 1<<16)
	write.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
	for {
		if _, err := write.Write(fill); err != nil {
			break
		}
	}
	s := command(t, order{Argv: script("exec sleep 1000"), TTL: time.Second})
	s.cmd.Stderr = write
	s.mode("lost")
	s.begin()
	write.Close()
	s.wait()
	if o := s.outcome(); o.Cause != supervise.CauseLost {
		t.Errorf("outcome %+v", o)
	}
}

func TestAStderrThatIsGoneEndsNothing(t *testing.T) {
	t.Parallel()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s := command(t, order{Argv: script("until [ -e $DIR/stop ]; do sleep 0.05; done; exit 5"), TTL: 5 * time.Second})
	s.cmd.Stderr = write
	s.mode("fail")
	s.begin()
	write.Close()
	read.Close()
	s.eventually("it has spoken", func() bool { return s.has(supervise.Uncertain) })
	s.mode("ok")
	create(t, s.dir, "stop")
	if code := s.wait(); code != 5 {
		t.Errorf("exit %d", code)
	}
}
