package supervise_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"legible.sh/mutex/internal/supervise"
)

// runMany runs a command for every exit code, one after the other, and exits 0 if all came through and nothing is
// left open.
func runMany(o order) int {
	before := 0
	for code := range 256 {
		o.Argv = script("exit " + strconv.Itoa(code))
		if got := run(o, supervise.CatchSignals(context.Background())).Code; got != code {
			fmt.Fprintf(os.Stderr, "exit %d came as %d\n", code, got)
			return 1
		}
		if code == 10 { // what is opened once is open
			before = descriptors()
		}
	}
	if after := descriptors(); after != before {
		fmt.Fprintf(os.Stderr, "%d descriptors became %d\n", before, after)
		return 1
	}
	if err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil); !errors.Is(err, unix.ECHILD) {
		fmt.Fprintln(os.Stderr, "a child is left")
		return 1
	}
	return 0
}

func descriptors() int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		panic(err)
	}
	return len(entries)
}

// queueOnly waits for a lease that never comes.
func queueOnly(o order) int {
	signals := supervise.CatchSignals(context.Background())
	defer signals.Stop()
	if err := os.WriteFile(o.Dir+"/queued.pid", []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600); err != nil {
		panic(err)
	}
	<-signals.Context().Done()
	var in *supervise.Interrupted
	if errors.As(context.Cause(signals.Context()), &in) {
		return in.Code()
	}
	return 99
}

// runInterrupted gets a signal after the grant and before the run.
func runInterrupted(o order) int {
	signals := supervise.CatchSignals(context.Background())
	syscall.Kill(os.Getpid(), syscall.SIGINT)
	<-signals.Context().Done()
	return run(o, signals).Code
}

// runAmongThreads lets threads end all the time while the command runs.
func runAmongThreads(o order) int {
	go func() {
		for range 200 {
			go func() {
				runtime.LockOSThread() // a goroutine that ends locked takes its thread along
				time.Sleep(time.Millisecond)
			}()
			time.Sleep(2 * time.Millisecond)
		}
	}()
	return runOnce(o)
}

// runBare runs where no control group can be had, in a mount namespace of its own.
func runBare(o order) int {
	mine, err := os.Readlink("/proc/self/ns/mnt")
	if theirs, _ := os.Readlink(fmt.Sprintf("/proc/%d/ns/mnt", os.Getppid())); err != nil || mine == theirs {
		fmt.Fprintln(os.Stderr, "not in a mount namespace of its own:", err)
		return 99
	}
	if err := syscall.Mount("none", "/sys/fs/cgroup", "tmpfs", 0, ""); err != nil {
		fmt.Fprintln(os.Stderr, "hide the control groups:", err)
		return 99
	}
	return runOnce(o)
}

// runAsInit is the first process of a PID namespace, with a /proc of its own.
func runAsInit(o order) int {
	if err := syscall.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		fmt.Fprintln(os.Stderr, "mount /proc in the namespace:", err)
		return 99
	}
	if os.Getpid() != 1 {
		fmt.Fprintln(os.Stderr, "not pid 1")
		return 99
	}
	return runOnce(o)
}

// sleepWithMoreRights is a program that who started it cannot signal: it is root's, and takes root's rights wholly.
func sleepWithMoreRights(o order) int {
	if err := syscall.Setresuid(0, 0, 0); err != nil {
		fmt.Fprintln(os.Stderr, "take the rights of the file's owner:", err)
		return 99
	}
	pid := strconv.Itoa(os.Getpid()) + "\n"
	if err := os.WriteFile(o.Dir+"/strong.pid", []byte(pid), 0o644); err != nil {
		panic(err)
	}
	time.Sleep(time.Hour)
	return 0
}

// ioctlGroup asks a terminal for its foreground group.
func ioctlGroup(tty *os.File) (int, error) { return unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP) }
