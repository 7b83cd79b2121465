//go:build !linux

package bench

import "os"

// datasync writes a file to the disk.
func datasync(f *os.File) error { return f.Sync() }
