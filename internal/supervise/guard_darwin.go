package supervise

import (
	"os"
	"syscall"
)

func ownProgram() (string, error) { return os.Executable() }

func pipe(ends *[2]int) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := syscall.Pipe(ends[:]); err != nil {
		return err
	}
	syscall.CloseOnExec(ends[0])
	syscall.CloseOnExec(ends[1])
	return nil
}

func setProcessName(string) {}

// orphan stands for the command's group: macOS shows no more.
type orphan struct{ group int }

func (o orphan) send(sig syscall.Signal) { _ = syscall.Kill(-o.group, sig) }

func (order guardOrder) orphans() []orphan {
	if syscall.Kill(-order.Group, 0) != nil {
		return nil
	}
	return []orphan{{order.Group}}
}

func (order guardOrder) dispose() {}
