//go:build unix

package disk

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lock takes flock(2) on a file; free is false when another process has it.
func lock(f *os.File) (free bool, err error) {
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("flock %s: %w", f.Name(), err)
	}
	return true, nil
}
