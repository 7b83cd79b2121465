//go:build unix

package private

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// Open opens a plain file that only its owner, who is this user or root, can read. A link is not followed, and a
// pipe put in its place does not keep the caller waiting.
func Open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.EMLINK) {
		return nil, fmt.Errorf("%w: %s is a link", ErrNotPrivate, path)
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = check(path, info, 0o077)
	}
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%w: %s is not a plain file", ErrNotPrivate, path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Dir refuses a directory that is a link, or in which others can put files.
func Dir(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%w: %s is not a directory", ErrNotPrivate, path)
	}
	return check(path, info, 0o022)
}

// mend says what takes the forbidden permissions away.
var mend = map[fs.FileMode]string{0o077: "600", 0o022: "go-w"}

func check(path string, info fs.FileInfo, forbidden fs.FileMode) error {
	owner := int(info.Sys().(*syscall.Stat_t).Uid)
	if owner != os.Geteuid() && owner != 0 {
		return fmt.Errorf("%w: %s belongs to user %d", ErrNotPrivate, path, owner)
	}
	if mode := info.Mode().Perm(); mode&forbidden != 0 {
		return fmt.Errorf("%w: %s has the permissions %v; chmod %s %s", ErrNotPrivate, path, mode, mend[forbidden], path)
	}
	return nil
}
