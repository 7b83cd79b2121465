//go:build !unix

package private

import (
	"errors"
	"fmt"
	"os"
)

// Open opens a plain file. Who may read it is left to the directory it is in: the modes of files say nothing here.
func Open(path string) (*os.File, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: %s is not a plain file", ErrNotPrivate, path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	opened, err := f.Stat()
	if err == nil && !os.SameFile(info, opened) {
		err = fmt.Errorf("%w: %s was replaced", ErrNotPrivate, path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Dir refuses what is no directory.
func Dir(path string) error {
	info, err := os.Lstat(path)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%w: %s is not a directory", ErrNotPrivate, path)
	}
	return err
}
