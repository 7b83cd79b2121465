package supervise_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"legible.sh/mutex/internal/supervise"
)

// screen is a job-control shell on a terminal of its own, as a person has it.
type screen struct {
	*supervised
	tty  *os.File
	mu   sync.Mutex // guards text, between the reader of the terminal and the test
	text strings.Builder
}

// shell starts the shell; in it, "$DIR/run" is the supervisor with this order.
func shell(t *testing.T, o order) *screen {
	t.Helper()
	s := &screen{supervised: command(t, o)}
	o.Dir = s.dir
	if o.TTL == 0 {
		o.TTL = time.Minute
	}
	s.supervisor("run", o)
	s.cmd = exec.Command("bash", "--norc", "--noprofile", "-i")
	s.cmd.Env = append(os.Environ(), "PS1=ready> ", "DIR="+s.dir, "TERM=xterm", "HISTFILE=", "LC_ALL=C")
	var err error
	if s.tty, err = pty.Start(s.cmd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.cleanup()
		s.tty.Close()
		if t.Failed() {
			t.Logf("screen:\n%s", s.seen())
		}
	})
	go s.watch()
	s.shows("ready> ")
	return s
}

// supervisor writes a program that runs an order.
func (s *screen) supervisor(name string, o order) {
	s.t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		s.t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	program := fmt.Sprintf("#!/bin/sh\nexport %s='%s'\nexec %s\n", orderVar, strings.ReplaceAll(string(text), "'", `'\''`), exe)
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(program), 0o700); err != nil {
		s.t.Fatal(err)
	}
}

func (s *screen) watch() {
	buffer := make([]byte, 4096)
	for {
		n, err := s.tty.Read(buffer)
		s.mu.Lock()
		s.text.Write(buffer[:n])
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (s *screen) seen() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// keys types, and forgets what was on the screen before.
func (s *screen) keys(text string) {
	s.t.Helper()
	s.mu.Lock()
	s.text.Reset()
	s.mu.Unlock()
	if _, err := s.tty.WriteString(text); err != nil {
		s.t.Fatal(err)
	}
}

// shows waits for a text that came since the last keys.
func (s *screen) shows(text string) {
	s.t.Helper()
	s.eventually(fmt.Sprintf("the screen shows %q", text), func() bool { return strings.Contains(s.seen(), text) })
}

// lentTo waits until a group goes on with the terminal: before that a key is the shell's, or is lost on the way.
func (s *screen) lentTo(group int) {
	s.t.Helper()
	s.eventually("the command has the terminal", func() bool {
		has, err := ioctlGroup(s.tty)
		return err == nil && has == group && state(group) != 'T'
	})
}

const (
	ctrlC = "\x03"
	ctrlZ = "\x1a"
)

func TestThePromptOfACommandIsAnswered(t *testing.T) {
	t.Parallel()
	s := shell(t, order{Argv: []string{"bash", "-c", `read -p "name? " name; echo "hello, $name"; exit 3`}})
	s.keys("$DIR/run\n")
	s.shows("name? ")
	s.keys("Ada\n")
	s.shows("hello, Ada")
	s.shows("ready> ")
	s.keys("echo code $?\n") // the shell has its terminal again
	s.shows("code 3")
}

// TestTheTerminalIsGivenBack to a script, which would not take it by itself as a job-control shell does.
func TestTheTerminalIsGivenBack(t *testing.T) {
	t.Parallel()
	s := shell(t, order{Argv: script("echo begun")})
	s.keys("sh -c '$DIR/run; echo asking; read name; echo hello, $name'\n")
	s.shows("asking\r\n")
	s.keys("Ada\n")
	s.shows("hello, Ada")
}

func TestTheInterruptKeyEndsTheCommand(t *testing.T) {
	t.Parallel()
	s := shell(t, order{Argv: script("echo begun; exec sleep 1000")})
	s.keys("$DIR/run\n")
	s.shows("begun")
	s.keys(ctrlC)
	s.shows("ready> ")
	s.keys("echo code $?\n")
	s.shows("code 130")
	if len(s.logged("released")) != 1 {
		t.Error("not released")
	}
}

// TestTheInterruptKeyIsTheCommandsOwn: one that makes use of it goes on.
func TestTheInterruptKeyIsTheCommandsOwn(t *testing.T) {
	t.Parallel()
	s := shell(t, order{
		Argv: []string{"bash", "-c", `trap "echo caught" INT; echo begun; until [ -e $DIR/stop ]; do sleep 0.05; done; exit 4`}, Grace: 200 * time.Millisecond,
	})
	s.keys("$DIR/run\n")
	s.shows("begun")
	s.keys(ctrlC)
	s.shows("caught")
	time.Sleep(300 * time.Millisecond) // more than the grace: nothing was to end
	create(t, s.dir, "stop")
	s.shows("ready> ")
	s.keys("echo code $?\n")
	s.shows("code 4")
}

// TestTheInterruptKeyEndsAScriptAroundTheRun: the key reaches the command's group alone, and is passed on.
func TestTheInterruptKeyEndsAScriptAroundTheRun(t *testing.T) {
	t.Parallel()
	s := shell(t, order{Argv: script("echo begun; exec sleep 1000")})
	s.keys("sh -c '$DIR/run; echo went on'\n")
	s.shows("begun")
	s.keys(ctrlC)
	s.shows("ready> ")
	if strings.Contains(s.seen(), "went on") {
		t.Error("the script went on")
	}
}

// The commands that are stopped with the key do not use vfork: a child that is stopped between vfork and exec keeps its
// parent from being stopped, whoever watches.

func TestStopAndForeground(t *testing.T) {
	t.Parallel()
	s := shell(t, order{Argv: []string{"bash", "-c", `echo $$ > $DIR/leader.pid; read -p "name? " name; echo "hello, $name"`}})
	s.keys("$DIR/run\n")
	s.shows("name? ")
	leader := s.pid("leader")
	for range 2 { // twice: the way back must leave all as it was
		s.keys(ctrlZ)
		s.shows("not renewed meanwhile")
		s.shows("Stopped")
		s.shows("ready> ")
		s.keys("jobs; echo free\n")
		s.shows("free\r\n")
		s.keys("fg\n")
		s.lentTo(leader)
	}
	s.keys("Ada\n")
	s.shows("hello, Ada")
	s.shows("ready> ")
	s.keys("echo code $?\n")
	s.shows("code 0")
}

func TestStopAndBackground(t *testing.T) {
	t.Parallel()
	s := shell(t, order{Argv: []string{"bash", "-c", `trap 'echo awake' CONT; echo $$ > $DIR/leader.pid
		until [ -e $DIR/stop ]; do sleep 0.05; done; echo done; exit 5`}})
	s.keys("$DIR/run\n")
	s.pid("leader")
	s.keys(ctrlZ)
	s.shows("Stopped")
	s.keys("bg\n")
	s.shows("awake")
	create(t, s.dir, "stop")
	s.shows("done")
	s.keys("wait\n")
	s.shows("ready> ")
	s.keys("fg; echo over\n")
	s.shows("over\r\n")
}

func TestAStopPastTheTTLEndsTheCommandOnTheWayBack(t *testing.T) {
	t.Parallel()
	s := shell(t, order{Argv: script("echo $$ > $DIR/leader.pid; exec sleep 1000"), TTL: 3 * time.Second})
	s.keys("$DIR/run\n")
	leader := s.pid("leader")
	s.eventually("a renewal", func() bool { return len(s.logged("renewed")) > 0 })
	s.keys(ctrlZ)
	s.shows("Stopped")
	asked := len(s.logged("renew"))
	end := supervise.Now().Add(3200 * time.Millisecond)
	s.eventually("the ttl is over", func() bool { return supervise.Now() > end })
	s.keys("fg\n")
	s.shows("lease lost")
	s.shows("ready> ")
	s.ends(leader)
	if o := s.outcome(); o.Cause != supervise.CauseLost || len(s.logged("renew")) != asked {
		t.Errorf("outcome %+v, asked %d times more", o, len(s.logged("renew"))-asked)
	}
}

// TestAStopPastTheTTLLetsTheCommandGoOn where that is wanted: nobody would come to wake it later.
func TestAStopPastTheTTLLetsTheCommandGoOn(t *testing.T) {
	t.Parallel()
	s := shell(t, order{
		Argv: []string{"bash", "-c", `echo $$ > $DIR/leader.pid; read -p "name? " name; echo "hello, $name"; exit 5`},
		TTL:  3 * time.Second, OnLoss: supervise.Continue,
	})
	s.keys("$DIR/run\n")
	leader := s.pid("leader")
	s.eventually("a renewal", func() bool { return len(s.logged("renewed")) > 0 })
	s.keys(ctrlZ)
	s.shows("Stopped")
	end := supervise.Now().Add(3200 * time.Millisecond)
	s.eventually("the ttl is over", func() bool { return supervise.Now() > end })
	s.keys("fg\n")
	s.shows("lease lost")
	s.lentTo(leader)
	s.keys(ctrlZ) // and once more, now that the lease is long lost
	s.shows("Stopped")
	s.keys("fg\n")
	s.lentTo(leader)
	s.keys("Ada\n")
	s.shows("hello, Ada")
	s.keys("echo code $?\n")
	s.shows("code 5")
}

func TestAnEditorEdits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "text")
	s := shell(t, order{Dir: dir, Argv: []string{"vim", "-u", "NONE", "-N", file}})
	s.keys("$DIR/run\n")
	s.shows("[New]")
	s.keys("ihello\x1b")
	s.keys(ctrlZ)
	s.shows("Stopped")
	s.keys("fg\n")
	s.shows("hello")
	s.keys(":wq\n")
	s.eventually("the file is written", func() bool { return s.read("text") == "hello\n" })
	s.shows("ready> ")
}

// TestAnEditorThatIsEndedLeavesAUsableTerminal: its modes are not the shell's.
func TestAnEditorThatIsEndedLeavesAUsableTerminal(t *testing.T) {
	t.Parallel()
	s := shell(t, order{Argv: script(`stty raw -echo; trap "" TERM; echo begun; while :; do sleep 0.1; done`), Grace: 200 * time.Millisecond, TTL: 3 * time.Second})
	s.keys("stty -a > $DIR/before\n$DIR/run; stty -a > $DIR/after; echo over\n")
	s.shows("begun")
	s.mode("lost")
	s.shows("over")
	s.eventually("the modes are known", func() bool { return strings.HasSuffix(s.read("after"), "\n") })
	if s.read("before") != s.read("after") {
		t.Errorf("before:\n%s\nafter:\n%s", s.read("before"), s.read("after"))
	}
}

func TestAnInteractiveShellHasItsJobControl(t *testing.T) {
	t.Parallel()
	s := shell(t, order{Argv: []string{"bash", "--norc", "--noprofile", "-i"}})
	s.keys("PS1='inner> ' $DIR/run\n")
	s.shows("inner> ")
	s.keys("sleep 1000\n")
	s.shows("sleep")
	s.eventually("sleep has the terminal", func() bool { return foregroundIs(s.tty, "sleep") })
	s.keys(ctrlZ)
	s.shows("Stopped")
	s.shows("inner> ")
	s.keys("kill -9 %1; while kill -0 %1 2>/dev/null; do sleep 0.02; done; echo gone\n")
	s.shows("gone\r\n")
	s.keys("exit 7\n")
	s.shows("ready> ")
	s.keys("echo code $?\n")
	s.shows("code 7")
}

// foregroundIs reports whether the terminal's foreground group is led by a program of this name.
func foregroundIs(tty *os.File, name string) bool {
	group, err := ioctlGroup(tty)
	if err != nil {
		return false
	}
	comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", group))
	return string(comm) == name+"\n"
}

// TestWordsFromTheBackgroundStopNobody: the terminal is the command's, and stops others that write to it.
func TestWordsFromTheBackgroundStopNobody(t *testing.T) {
	t.Parallel()
	s := shell(t, order{Argv: script("echo begun; until [ -e $DIR/stop ]; do sleep 0.05; done; exit 5"), TTL: 6 * time.Second})
	s.keys("stty tostop; $DIR/run\n")
	s.shows("begun")
	s.mode("fail")
	s.shows("could not be renewed")
	s.mode("ok")
	s.shows("renewed again")
	create(t, s.dir, "stop")
	s.shows("ready> ")
	s.keys("echo code $?\n")
	s.shows("code 5")
}

// TestAPagerInAPipelineKeepsTheKeys: the terminal is taken from nobody who may be reading it.
func TestAPagerInAPipelineKeepsTheKeys(t *testing.T) {
	t.Parallel()
	s := shell(t, order{Argv: script("echo line; until [ -e $DIR/stop ]; do sleep 0.05; done")})
	s.keys("$DIR/run | bash -c 'read line; read -p \"page? \" key < /dev/tty; echo \"key $key\"; touch $DIR/stop; cat'\n")
	s.shows("page? ")
	s.keys("q\n")
	s.shows("key q")
	s.shows("ready> ")
}

// TestAQuestionInAPipelineIsAnswered: a command that asks gets the terminal when it does.
func TestAQuestionInAPipelineIsAnswered(t *testing.T) {
	t.Parallel()
	s := shell(t, order{Argv: []string{"bash", "-c", `read -p "name? " name < /dev/tty; echo "hello, $name"`}})
	s.keys("$DIR/run | cat\n")
	s.shows("name? ")
	s.keys("Ada\n")
	s.shows("hello, Ada")
	s.shows("ready> ")
}

func TestTheInterruptKeyInAPipelineReachesTheCommand(t *testing.T) {
	t.Parallel()
	s := shell(t, order{Argv: script("echo begun; exec sleep 1000")})
	s.keys("$DIR/run | cat\n")
	s.shows("begun")
	s.keys(ctrlC)
	s.shows("ready> ")
	s.eventually("released", func() bool { return len(s.logged("released")) == 1 })
}

// TestTwoInterruptKeysHurryWhatIsLeft: when the command is gone, the keys are the run's again.
func TestTwoInterruptKeysHurryWhatIsLeft(t *testing.T) {
	t.Parallel()
	s := shell(t, order{
		Argv:      script(`sh -c 'trap "" TERM INT; echo $$ > $DIR/stubborn.pid; exec sleep 1000' & until [ -e $DIR/stubborn.pid ]; do sleep 0.02; done; exit 0`),
		Leftovers: supervise.KillThem, Grace: 10 * time.Minute,
	})
	s.keys("$DIR/run\n")
	s.shows("left running")
	stubborn := s.pid("stubborn")
	for alive(stubborn) { // presses of a person, not one press that came twice
		s.keys(ctrlC)
		time.Sleep(150 * time.Millisecond)
	}
	s.keys("\n")
	s.shows("ready> ")
}

func TestAHangupOfTheTerminalEndsTheCommand(t *testing.T) {
	t.Parallel()
	s := shell(t, order{Argv: script(`trap "" HUP; echo $$ > $DIR/leader.pid; while :; do sleep 0.1; done`), Grace: 300 * time.Millisecond})
	s.keys("exec $DIR/run\n")
	leader := s.pid("leader")
	s.signal(syscall.SIGHUP)
	s.ends(leader)
	s.eventually("released", func() bool { return len(s.logged("released")) == 1 })
}
