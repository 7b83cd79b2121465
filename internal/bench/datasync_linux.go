package bench

import (
	"os"
	"syscall"
)

// datasync writes a file's content to the disk, and of its metadata only what reading it back needs.
func datasync(f *os.File) error { return syscall.Fdatasync(int(f.Fd())) }
