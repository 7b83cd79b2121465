package disktest

import (
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"syscall"

	"legible.sh/mutex/internal/journal/disk"
)

// ErrDead is the answer of a disk that has lost its power.
var ErrDead = errors.New("the power is off")

// Disk is a file system in memory. The zero value is not ready; use [New].
type Disk struct {
	// Fail is asked before each call, outside of any lock, so it may block; its error becomes the call's. May be nil.
	// It must not be changed while the disk is in use.
	Fail func(op disk.Op, name string) error
	// NoAllocate makes it a file system that cannot set room aside.
	NoAllocate bool
	// NoIdentity makes it one where a file never looks like the one that was opened.
	NoIdentity bool

	mu     sync.Mutex
	names  map[string]*inode // as a process sees them
	synced map[string]*inode // as a power cut leaves them at least
	locked map[string]bool
	limit  int64 // bytes in all; 0: without end
	dead   bool
}

var _ disk.FS = (*Disk)(nil)

// New makes an empty disk.
func New() *Disk {
	return &Disk{names: map[string]*inode{}, synced: map[string]*inode{}, locked: map[string]bool{}}
}

// Limit makes the disk that large from now on; 0 without end.
func (d *Disk) Limit(bytes int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.limit = bytes
}

// Used is how many bytes are taken, the room set aside included.
func (d *Disk) Used() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.used()
}

func (d *Disk) used() (n int64) {
	for _, i := range d.names {
		n += i.taken()
	}
	return n
}

// ReadFile gives a file as a process sees it; nil when there is none.
func (d *Disk) ReadFile(name string) []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	if i := d.names[name]; i != nil {
		return append([]byte(nil), i.data...)
	}
	return nil
}

// WriteFile makes a file with this content, all of it safe.
func (d *Disk) WriteFile(name string, data []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := newInode()
	i.data = append([]byte(nil), data...)
	i.synced = append([]byte(nil), data...)
	d.names[name], d.synced[name] = i, i
}

// Append adds to a file, in the page cache, as a process that is killed while it writes may leave it.
func (d *Disk) Append(name string, data []byte) error {
	f, err := d.Open("", name)
	if err != nil {
		return err
	}
	return f.WriteAt("", data, int64(len(d.ReadFile(name))))
}

// Crash ends this disk, and gives what is found of it after a power cut: chance decides what is there of that which
// was not safe. The same chance gives the same disk.
func (d *Disk) Crash(chance *rand.Rand) *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dead = true
	after := New()
	names := d.synced
	if chance.IntN(2) == 0 {
		names = d.names
	}
	for _, name := range sortedKeys(names) {
		i := names[name].crash(chance)
		after.names[name], after.synced[name] = i, i
	}
	return after
}

// Unsafe lists the sectors of a file that a power cut may lose.
func (d *Disk) Unsafe(name string) []int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Sorted(maps.Keys(d.names[name].dirty))
}

// Cut gives what is found after a power cut now that keeps those of a file's unsafe sectors which keep says, and either
// what the file has grown since it was safe or not. Other files are kept as they are. The disk goes on.
func (d *Disk) Cut(name string, grown bool, keep func(sector int64) bool) *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	cut := New()
	for other, i := range d.names {
		size := int64(len(i.data))
		if other == name && !grown {
			size = min(size, int64(len(i.synced)))
		}
		found := i.after(size, func(sector int64, versions [][]byte) []byte {
			if other == name && !keep(sector) {
				return nil
			}
			return versions[len(versions)-1]
		})
		cut.names[other], cut.synced[other] = found, found
	}
	return cut
}

// Kill ends the process but not the machine: what was written is there, and the locks are free.
func (d *Disk) Kill() *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dead = true
	after := New()
	after.limit, after.NoAllocate = d.limit, d.NoAllocate
	after.names, after.synced = maps.Clone(d.names), maps.Clone(d.synced)
	return after
}

// do runs one call, unless it is to fail.
func (d *Disk) do(op disk.Op, name string, call func() error) error {
	if d.Fail != nil {
		if err := d.Fail(op, name); err != nil {
			return err
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dead {
		return ErrDead
	}
	return call()
}

// MakeDir is [disk.FS]. Directories are not kept.
func (d *Disk) MakeDir(op disk.Op, dir string) error {
	return d.do(op, dir, func() error { return nil })
}

// Lock is [disk.FS].
func (d *Disk) Lock(op disk.Op, name string) (disk.Lock, error) {
	err := d.do(op, name, func() error {
		if d.locked[name] {
			return &disk.LockedError{PID: 1}
		}
		d.locked[name] = true
		return nil
	})
	if err != nil {
		return nil, err
	}
	return unlock{d, name}, nil
}

type unlock struct {
	d    *Disk
	name string
}

// Covers is [disk.Lock]. Directories are not kept, so none is replaced.
func (u unlock) Covers(op disk.Op) error {
	return u.d.do(op, u.name, func() error { return nil })
}

func (u unlock) Close() error {
	u.d.mu.Lock()
	defer u.d.mu.Unlock()
	delete(u.d.locked, u.name)
	return nil
}

// Open is [disk.FS].
func (d *Disk) Open(op disk.Op, name string) (disk.File, error) {
	f := &file{d: d, name: name}
	err := d.do(op, name, func() error {
		if f.inode = d.names[name]; f.inode == nil {
			return &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Create is [disk.FS].
func (d *Disk) Create(op disk.Op, name string) (disk.File, error) {
	f := &file{d: d, name: name}
	err := d.do(op, name, func() error {
		f.inode = newInode()
		d.names[name] = f.inode
		return nil
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Rename is [disk.FS].
func (d *Disk) Rename(op disk.Op, from, to string) error {
	return d.do(op, from, func() error {
		d.names[to] = d.names[from]
		delete(d.names, from)
		return nil
	})
}

// Remove is [disk.FS].
func (d *Disk) Remove(op disk.Op, name string) error {
	return d.do(op, name, func() error {
		delete(d.names, name)
		return nil
	})
}

// SyncDir is [disk.FS].
func (d *Disk) SyncDir(op disk.Op, dir string) error {
	return d.do(op, dir, func() error {
		d.synced = maps.Clone(d.names)
		return nil
	})
}

// Free is [disk.FS].
func (d *Disk) Free(op disk.Op, dir string) (free int64, err error) {
	err = d.do(op, dir, func() error {
		if free = 1 << 40; d.limit > 0 {
			free = max(d.limit-d.used(), 0)
		}
		return nil
	})
	return free, err
}

// claim takes up to n bytes of what is free, and tells how many.
func (d *Disk) claim(n int64) (int64, error) {
	if d.limit == 0 {
		return n, nil
	}
	if free := max(d.limit-d.used(), 0); free < n {
		return free, syscall.ENOSPC
	}
	return n, nil
}
