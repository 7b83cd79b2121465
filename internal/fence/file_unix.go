//go:build unix

package fence

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// tryLock takes flock(2) on a file; free is false when somebody else has it.
func tryLock(f *os.File) (free bool, err error) {
	for {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		default:
			return err == nil, err
		}
	}
}

// Bequeath leaves the lock to the program that this process becomes by exec, and to what that starts: the lock is free
// again when the last of them has ended, however this one ended.
func (f *File) Bequeath() error {
	_, err := unix.FcntlInt(f.lock.Fd(), unix.F_SETFD, 0)
	return err
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
