package disk

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// keepSize is FALLOC_FL_KEEP_SIZE: blocks are set aside beyond the end, and the end stays where it is.
const keepSize = 1

// datasync is fdatasync(2): the data, and of the metadata only what is needed to read it back.
func datasync(f *os.File) error {
	return wrap("fdatasync", f, retry(func() error { return syscall.Fdatasync(int(f.Fd())) }))
}

func allocate(f *os.File, off, n int64) error {
	err := retry(func() error { return syscall.Fallocate(int(f.Fd()), keepSize, off, n) })
	if errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.ENOSYS) {
		return ErrCannotAllocate
	}
	return wrap("fallocate", f, err)
}

func retry(call func() error) error {
	for {
		if err := call(); err != syscall.EINTR {
			return err
		}
	}
}

func wrap(call string, f *os.File, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s: %w", call, f.Name(), err)
}

func free(dir string) (int64, error) {
	var st syscall.Statfs_t
	if err := retry(func() error { return syscall.Statfs(dir, &st) }); err != nil {
		return 0, fmt.Errorf("statfs %s: %w", dir, err)
	}
	return int64(st.Bavail) * int64(st.Bsize), nil
}
