//go:build unix

package supervise

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// guardName is the guard's argv[0], so that it is known in a process list, and a pkill for this program's name
// does not take the guard with it.
const guardName = "lease-guard"

// canGuard says that this program calls WatcherMain and so may be started as a guard. Set before main does
// anything else, read by Run.
var canGuard bool

// guardOrder is what the guard is told at its start: which processes are the command's, and how to end them.
type guardOrder struct {
	Group   int           // the command's process group
	Session int           // in which that group is
	RunID   string        // in the environment of the command and what it started
	Cgroup  string        // the command's control group, if it has one
	Grace   time.Duration // from TERM to KILL
}

// guard is a small process on the other end of a pipe. When this process dies without ending it, however that
// comes about, the pipe closes, and the guard ends the command's tree: TERM at once, KILL after the grace or just
// before the lease's deadline. The parent-death signal alone would reach only the command itself.
type guard struct {
	pid  int
	pipe int
}

var errNoGuard = errors.New("this program cannot be started as a guard")

func startGuard(order guardOrder) (*guard, error) {
	if !canGuard {
		return nil, errNoGuard
	}
	text, err := json.Marshal(order)
	if err != nil {
		return nil, err
	}
	program, err := ownProgram()
	if err != nil {
		return nil, err
	}
	var ends [2]int
	if err := pipe(&ends); err != nil {
		return nil, err
	}
	defer syscall.Close(ends[0])
	read := uintptr(ends[0])
	pid, err := syscall.ForkExec(program, []string{guardName, string(text)}, &syscall.ProcAttr{
		Dir: "/", Env: []string{"GOMAXPROCS=1"}, Files: []uintptr{read, read, read},
		Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		syscall.Close(ends[1])
		return nil, err
	}
	_ = syscall.SetNonblock(ends[1], true)
	return &guard{pid: pid, pipe: ends[1]}, nil
}

// killBy tells the guard by when to kill, before the lease ends. A guard that has ended is noticed elsewhere.
func (g *guard) killBy(at Instant) {
	_, _ = syscall.Write(g.pipe, append(strconv.AppendInt(nil, int64(at), 10), '\n'))
}

// kill ends the guard before it could see the pipe close, and reaps it.
func (g *guard) kill() {
	_ = syscall.Kill(g.pid, syscall.SIGKILL)
	reap(g.pid)
	g.forget()
}

// forget closes the pipe to a guard that is no more.
func (g *guard) forget() { syscall.Close(g.pipe) }

// WatcherMain must be the first call of every main, and of a TestMain, whose program calls Run. In a process that
// was started as a guard it does the guard's work and never returns; in any other it only notes that this program
// can be started as one.
func WatcherMain() {
	canGuard = true
	if len(os.Args) == 2 && os.Args[0] == guardName {
		os.Exit(guardMain(os.Args[1], os.Stdin))
	}
}

func guardMain(text string, pipe io.Reader) int {
	// Only the pipe ends a guard: signals that go to everything of this user or session are not meant for it.
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1,
		syscall.SIGUSR2, syscall.SIGPIPE, syscall.SIGTSTP)
	setProcessName(guardName)
	var order guardOrder
	if err := json.Unmarshal([]byte(text), &order); err != nil || order.Group <= 1 {
		return 2
	}
	killBy := lastInstant(pipe)
	endOrphans(order, max(now(), min(now().Add(order.Grace), killBy)))
	return 0
}

// lastInstant reads until the pipe closes and gives the moment that was told last; a line that is cut off does not
// count.
func lastInstant(pipe io.Reader) Instant {
	var last Instant
	for lines := bufio.NewReader(pipe); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			return last
		}
		if at, err := strconv.ParseInt(strings.TrimSuffix(line, "\n"), 10, 64); err == nil {
			last = Instant(at)
		}
	}
}

// endOrphans ends what is left of the command: TERM first, KILL from killAt on, until nothing is found. What cannot
// be killed for ten seconds is left to the kernel.
func endOrphans(order guardOrder, killAt Instant) {
	told := map[orphan]bool{}
	for now() < killAt.Add(10*time.Second) {
		found := order.orphans()
		if len(found) == 0 {
			break
		}
		hard := now() >= killAt
		for _, o := range found {
			switch {
			case hard:
				o.send(syscall.SIGKILL)
			case !told[o]:
				o.send(syscall.SIGTERM)
				o.send(syscall.SIGCONT)
				told[o] = true
			}
		}
		time.Sleep(min(20*time.Millisecond, max(killAt.Sub(now()), time.Millisecond)))
	}
	order.dispose()
}
