package bench

import (
	"os/exec"
	"syscall"
)

// dieWithParent has the kernel end the child when the thread that started it ends.
func dieWithParent(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} }
