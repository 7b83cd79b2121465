package fence

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// File is a fence in a file, locked. Its fields belong to the goroutine that opened it.
type File struct {
	path    string // with no link left in it
	lock    *os.File
	highest int64
}

// Open locks the fence in the file at path and reads it; a file that is not there is one that nobody has written under.
// It waits for others until ctx ends.
//
// The lock is on path + ".lock", which stays there: were it removed, two could lock two files of that name.
func Open(ctx context.Context, path string) (*File, error) {
	path, err := resolve(path)
	if err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	f := &File{path: path, lock: lock}
	if err = f.await(ctx); err == nil {
		f.highest, err = Read(path)
	}
	if err != nil {
		lock.Close()
		return nil, err
	}
	return f, nil
}

// resolve follows links, so that two names of one file have one lock.
func resolve(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return real, err
	}
	if _, err := os.Lstat(path); err == nil {
		return "", fmt.Errorf("%s is a link to nothing: make its target, or name that", path)
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	return filepath.Join(dir, filepath.Base(path)), err
}

// The pauses between two tries to lock.
const (
	shortest = 2 * time.Millisecond
	longest  = 100 * time.Millisecond
)

// await takes the lock. It asks again and again, since the kernel's own wait cannot be given up.
func (f *File) await(ctx context.Context) error {
	for pause := shortest; ; pause = min(2*pause, longest) {
		free, err := tryLock(f.lock)
		if err != nil {
			return fmt.Errorf("%s cannot be locked: %w", f.lock.Name(), err)
		}
		if free {
			return nil
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return fmt.Errorf("%s is locked by another guard: %w", f.lock.Name(), context.Cause(ctx))
		}
	}
}

// maxFile bounds what is read of a file: a number and its newline.
const maxFile = 64

// Read gives the fence in the file at path, 0 if there is none, without locking it: it is whole at any time.
func Read(path string) (int64, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() { // a pipe would keep us waiting for its writer
		return 0, fmt.Errorf("%s is no regular file: name one that may hold a number", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, maxFile))
	if err != nil {
		return 0, err
	}
	return kept(path, strings.TrimSuffix(string(b), "\n"))
}

// Highest is the highest fence admitted so far; 0 for none.
func (f *File) Highest() int64 { return f.highest }

// Admit refuses n with a [StaleError] if it is lower than the highest one, and keeps it otherwise. Nothing may be
// written under n before Admit has returned nil.
func (f *File) Admit(n int64) error {
	if err := admit(f.path, n, f.highest); err != nil {
		return err
	}
	if n > f.highest {
		if err := f.keep(n); err != nil {
			return fmt.Errorf("fence %d could not be kept: %w", n, err)
		}
	}
	f.highest = n
	return syncDir(filepath.Dir(f.path)) // also for an equal one, whose keeper may have died before this
}

// keep puts n in place whole or not at all.
func (f *File) keep(n int64) error {
	fresh := f.path + ".new" // only the lock's owner makes one, so one that is there is left from a crash
	if err := os.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := os.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	if info, e := os.Stat(f.path); e == nil {
		err = file.Chmod(info.Mode().Perm())
	}
	_, e := fmt.Fprintln(file, n)
	if err = errors.Join(err, e, file.Sync(), file.Close()); err == nil {
		err = os.Rename(fresh, f.path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(fresh))
	}
	return nil
}

// Close lets the next one in. After [File.Bequeath] the lock stays until its heirs have ended too.
func (f *File) Close() error { return f.lock.Close() }
