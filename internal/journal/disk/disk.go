package disk

import (
	"errors"
	"fmt"
	"io"
)

// FS is a file system. Names are whole paths.
type FS interface {
	// MakeDir makes a directory that only its owner can enter, unless it is there already.
	MakeDir(op Op, dir string) error
	// Lock locks the file at name, made if need be, until the result is closed, or until the process ends. A second
	// one who tries is told a [*LockedError]. The file is never removed: two could hold the lock then, one on each inode.
	Lock(op Op, name string) (Lock, error)
	// Open opens for reading and writing, without making anything. [io/fs.ErrNotExist] if there is no such file.
	Open(op Op, name string) (File, error)
	// Create makes an empty file that only its owner can read, or empties the one that is there.
	Create(op Op, name string) (File, error)
	// Rename puts a file in the place of another, at once or not at all. Safe only once SyncDir has returned.
	Rename(op Op, from, to string) error
	// Remove removes a file.
	Remove(op Op, name string) error
	// SyncDir makes the names in a directory safe.
	SyncDir(op Op, dir string) error
	// Free tells how many bytes could still be written below dir.
	Free(op Op, dir string) (int64, error)
}

// Lock is a lock that is held.
type Lock interface {
	// Covers is nil while the lock still keeps others out of the directory that has its name now; [ErrReplaced] when
	// that is another directory than the one that was locked.
	Covers(op Op) error
	io.Closer
}

// File is an open file. It belongs to one goroutine at a time.
type File interface {
	// ReadAt is [io.ReaderAt].
	ReadAt(op Op, p []byte, off int64) (int, error)
	// WriteAt writes all of p, into the page cache. After an error any part of it may be there.
	WriteAt(op Op, p []byte, off int64) error
	// Sync makes what was written safe, and the size that is needed to read it.
	Sync(op Op) error
	// Truncate cuts the file to size, and gives back room that was set aside behind it.
	Truncate(op Op, size int64) error
	// Allocate sets n bytes aside from off on, so that writing there cannot fail for want of space. The file does not
	// get longer. [ErrCannotAllocate] where the file system has no such promise to give.
	Allocate(op Op, off, n int64) error
	// Stands is nil if the file at name is this one, and so long: whoever opens it finds what was written here. Else
	// [ErrReplaced], [ErrResized], or why it cannot be told, such as [io/fs.ErrNotExist].
	Stands(op Op, name string, size int64) error
	// Close closes the file and syncs nothing.
	Close() error
}

// ErrCannotAllocate says that a file system cannot set room aside.
var ErrCannotAllocate = errors.New("the file system cannot set room aside")

// What others have done to a file or a directory that is in use.
var (
	ErrReplaced = errors.New("it was replaced by another")
	ErrResized  = errors.New("somebody else has written to it, or cut it")
)

// LockedError says that another process has the lock.
type LockedError struct {
	PID int // 0: it has not said yet
}

func (e *LockedError) Error() string {
	if e.PID == 0 {
		return "in use by another server"
	}
	return fmt.Sprintf("in use by another server, pid %d", e.PID)
}
