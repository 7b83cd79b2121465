package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Modes of what is made: for the owner alone.
const (
	dirMode  = 0o700
	fileMode = 0o600
)

// OS is the file system of the machine.
type OS struct{}

var _ FS = OS{}

// MakeDir is [FS.MakeDir]. What is made is synced into its parent.
func (o OS) MakeDir(op Op, dir string) error {
	err := os.Mkdir(dir, dirMode)
	if errors.Is(err, fs.ErrNotExist) {
		if err := o.MakeDir(op, filepath.Dir(dir)); err != nil {
			return err
		}
		err = os.Mkdir(dir, dirMode)
	}
	if errors.Is(err, fs.ErrExist) {
		if info, err := os.Stat(dir); err != nil || info.IsDir() {
			return err
		}
		return &fs.PathError{Op: "mkdir", Path: dir, Err: syscall.ENOTDIR}
	}
	if err != nil {
		return err
	}
	return o.SyncDir(op, filepath.Dir(dir))
}

// Lock is [FS.Lock]. It ends with the process, however that ends. The directory is locked along with the file: if
// somebody removes the file under a server, the next one would make, and lock, another.
func (OS) Lock(_ Op, name string) (Lock, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return nil, err
	}
	held := &locks{file: f, dir: filepath.Dir(name)}
	free, err := lock(f)
	if err == nil && free {
		free = held.withDirectory()
	}
	if err == nil && !free {
		err = &LockedError{PID: readPID(f)}
	} else if err == nil {
		err = writePID(f)
	}
	if err != nil {
		return nil, errors.Join(err, held.Close())
	}
	return held, nil
}

// locks are what a lock consists of.
type locks struct {
	file      *os.File
	dir       string
	directory *os.File // nil where it cannot be opened
}

// withDirectory adds the directory. Where a file system cannot lock those, as some over a network, the file must do.
func (l *locks) withDirectory() (free bool) {
	var err error
	if l.directory, err = os.Open(l.dir); err != nil {
		l.directory = nil
		return true
	}
	free, err = lock(l.directory)
	return free || err != nil
}

// Covers is [Lock.Covers].
func (l *locks) Covers(Op) error {
	there, err := os.Stat(l.dir)
	if err != nil || l.directory == nil {
		return err
	}
	locked, err := l.directory.Stat()
	if err == nil && !os.SameFile(there, locked) {
		err = fmt.Errorf("%s: %w", l.dir, ErrReplaced)
	}
	return err
}

// Close is [Lock.Close].
func (l *locks) Close() error {
	err := l.file.Close()
	if l.directory != nil {
		err = errors.Join(err, l.directory.Close())
	}
	return err
}

func readPID(f *os.File) int {
	b := make([]byte, 32)
	n, _ := f.ReadAt(b, 0)
	pid, _ := strconv.Atoi(strings.TrimSpace(string(b[:n])))
	return pid
}

// writePID says who has the lock. The lock does not depend on it, so a full disk is no reason to refuse.
func writePID(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	if errors.Is(err, syscall.ENOSPC) {
		return nil
	}
	return err
}

// Open is [FS.Open].
func (OS) Open(_ Op, name string) (File, error) { return open(name, os.O_RDWR) }

// Create is [FS.Create].
func (OS) Create(_ Op, name string) (File, error) {
	return open(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
}

func open(name string, flag int) (File, error) {
	f, err := os.OpenFile(name, flag, fileMode)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return osFile{f, info}, nil
}

// Rename is [FS.Rename].
func (OS) Rename(_ Op, from, to string) error { return os.Rename(from, to) }

// Remove is [FS.Remove].
func (OS) Remove(_ Op, name string) error { return os.Remove(name) }

// SyncDir is [FS.SyncDir].
func (OS) SyncDir(_ Op, dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Free is [FS.Free].
func (OS) Free(_ Op, dir string) (int64, error) { return free(dir) }

type osFile struct {
	f    *os.File
	info os.FileInfo // which file it is, however it is called later
}

func (o osFile) ReadAt(_ Op, p []byte, off int64) (int, error) { return o.f.ReadAt(p, off) }

func (o osFile) WriteAt(_ Op, p []byte, off int64) error {
	_, err := o.f.WriteAt(p, off)
	return err
}

func (o osFile) Sync(Op) error { return datasync(o.f) }

func (o osFile) Truncate(_ Op, size int64) error { return o.f.Truncate(size) }

func (o osFile) Allocate(_ Op, off, n int64) error { return allocate(o.f, off, n) }

func (o osFile) Stands(_ Op, name string, size int64) error {
	same, there, err := lookAt(name, o.info)
	switch {
	case err != nil:
		return err
	case !same:
		return fmt.Errorf("%s: %w", name, ErrReplaced)
	case there != size:
		return fmt.Errorf("%s: %w", name, ErrResized)
	}
	return nil
}

// statAt tells whether the file at name is this one, and its size.
func statAt(name string, file os.FileInfo) (same bool, size int64, err error) {
	there, err := os.Stat(name)
	if err != nil {
		return false, 0, err
	}
	return os.SameFile(there, file), there.Size(), nil
}

func (o osFile) Close() error { return o.f.Close() }
