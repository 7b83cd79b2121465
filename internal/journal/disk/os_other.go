//go:build !linux

package disk

import (
	"math"
	"os"
)

func datasync(f *os.File) error { return f.Sync() }

func allocate(*os.File, int64, int64) error { return ErrCannotAllocate }

// free cannot tell here, so nothing is held back for want of space.
func free(string) (int64, error) { return math.MaxInt64, nil }
