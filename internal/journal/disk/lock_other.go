//go:build !unix

package disk

import (
	"errors"
	"os"
)

// lock refuses: without flock(2) two servers could have one directory.
func lock(*os.File) (free bool, err error) {
	return false, errors.New("a data directory needs a Unix system")
}
