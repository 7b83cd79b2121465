//go:build unix

package dirstore

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// tryLock locks f if that needs no waiting.
func tryLock(f *os.File) (free bool, err error) {
	err = lockFile(f, unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

func awaitLock(f *os.File) error { return lockFile(f, unix.LOCK_EX) }

// shareLock locks f beside others that do.
func shareLock(f *os.File) error { return lockFile(f, unix.LOCK_SH) }

func lockFile(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), how); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func unsupported(err error) bool {
	for _, no := range []error{unix.ENOSYS, unix.ENOTSUP, unix.EOPNOTSUPP, unix.ENOLCK, unix.EINVAL} {
		if errors.Is(err, no) {
			return true
		}
	}
	return false
}
