package disk

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
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

// lookAt tells whether the file at name is this one, and its size. It asks for nothing else: where times are fine-grained
// (Linux 6.13 and later), a file whose times somebody has looked at gets new ones with its next write, and a sync of it
// has to wait for the file system's own journal again, as if it had grown.
func lookAt(name string, file os.FileInfo) (same bool, size int64, err error) {
	const wanted = unix.STATX_INO | unix.STATX_SIZE
	var there unix.Statx_t
	err = retry(func() error { return unix.Statx(unix.AT_FDCWD, name, 0, wanted, &there) })
	known, ok := file.Sys().(*syscall.Stat_t)
	if err != nil || there.Mask&wanted != wanted || !ok {
		return statAt(name, file)
	}
	same = there.Ino == known.Ino && unix.Mkdev(there.Dev_major, there.Dev_minor) == uint64(known.Dev)
	return same, int64(there.Size), nil
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
