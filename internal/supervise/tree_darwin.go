package supervise

import "syscall"

// system: macOS has neither a subreaper nor control groups. The tree is the command's process group; a process
// that leaves it is out of reach, and the command is reaped as soon as it is seen to have ended.
type system struct{ exited bool }

func (t *tree) prepare() {}
func (t *tree) dispose() {}

func (t *tree) forkExec(c Command) (int, error) {
	return syscall.ForkExec(c.Path, c.Argv, &syscall.ProcAttr{
		Env: environ(c.Env, t.runID), Files: stdio, Sys: &syscall.SysProcAttr{Setpgid: true},
	})
}

// poll says what happened to the children. It never blocks.
func (t *tree) poll() []change {
	var changes []change
	if t.pinned && !t.sys.exited {
		if ws, ok := waitFor(t.leader); ok && ws.Stopped() {
			t.stopSignal = ws.StopSignal()
			changes = append(changes, commandStopped)
		} else if ok {
			t.status, t.sys.exited = endedBy(ws), true
			changes = append(changes, commandExited)
		}
	}
	for pid := range t.owned {
		if ws, ok := waitFor(pid); ok && !ws.Stopped() {
			if c, ok := t.childEnded(pid); ok {
				changes = append(changes, c)
			}
		}
	}
	return changes
}

func waitFor(pid int) (syscall.WaitStatus, bool) {
	var ws syscall.WaitStatus
	got, err := syscall.Wait4(pid, &ws, syscall.WNOHANG|syscall.WUNTRACED, nil)
	return ws, err == nil && got == pid
}

// reap: poll has done that already.
func (t *tree) reap() { t.pinned = false }

func (t *tree) groupLives() bool { return syscall.Kill(-t.leader, 0) == nil }

// members names the group when something is left in it: whose processes those are cannot be told.
func (t *tree) members() []Process {
	if !t.groupLives() {
		return nil
	}
	return []Process{{PID: t.leader, Name: "process group"}}
}

func (t *tree) childless() bool { return !t.groupLives() }

func (t *tree) signal(signals ...syscall.Signal) {
	for _, sig := range signals {
		_ = syscall.Kill(-t.leader, sig)
	}
}

func (t *tree) kill() { t.signal(syscall.SIGKILL) }

func (t *tree) guardOrder() guardOrder {
	return guardOrder{Group: t.leader, RunID: t.runID, Grace: t.grace}
}

func endedBy(ws syscall.WaitStatus) status {
	if ws.Signaled() {
		return status{code: 128 + int(ws.Signal()), signal: ws.Signal()}
	}
	return status{code: ws.ExitStatus()}
}
