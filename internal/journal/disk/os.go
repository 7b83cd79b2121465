package disk

import (
	"errors"
	"io"
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
func (OS) Lock(_ Op, name string) (io.Closer, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return nil, err
	}
	held := locks{f}
	free, err := lock(f)
	if err == nil && free {
		held, free = held.withDirectory(filepath.Dir(name))
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

// locks are what a lock consists of; closing it ends it.
type locks []*os.File

// withDirectory adds a directory. Where a file system cannot lock those, as some over a network, the file must do.
func (l locks) withDirectory(dir string) (all locks, free bool) {
	d, err := os.Open(dir)
	if err != nil {
		return l, true
	}
	l = append(l, d)
	free, err = lock(d)
	return l, free || err != nil
}

func (l locks) Close() error {
	var failed error
	for _, f := range l {
		failed = errors.Join(failed, f.Close())
	}
	return failed
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
	return osFile{f}, nil
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

type osFile struct{ f *os.File }

func (o osFile) ReadAt(_ Op, p []byte, off int64) (int, error) { return o.f.ReadAt(p, off) }

func (o osFile) WriteAt(_ Op, p []byte, off int64) error {
	_, err := o.f.WriteAt(p, off)
	return err
}

func (o osFile) Sync(Op) error { return datasync(o.f) }

func (o osFile) Truncate(_ Op, size int64) error { return o.f.Truncate(size) }

func (o osFile) Allocate(_ Op, off, n int64) error { return allocate(o.f, off, n) }

func (o osFile) Close() error { return o.f.Close() }
