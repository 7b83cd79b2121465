package disktest

import (
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"

	"legible.sh/mutex/internal/journal/disk"
)

// pageSize is what is lost or kept as a whole.
const pageSize = 512

// inode is a file's content, whatever it is called.
type inode struct {
	data   []byte         // in the page cache
	synced []byte         // safe
	dirty  map[int64]bool // pages that differ
	room   int64          // set aside, from the beginning of the file
}

func newInode() *inode { return &inode{dirty: map[int64]bool{}} }

func (i *inode) taken() int64 { return max(int64(len(i.data)), i.room) }

// grow makes the content at least so long, with holes.
func grow(b []byte, size int64) []byte {
	if missing := size - int64(len(b)); missing > 0 {
		return append(b, make([]byte, missing)...)
	}
	return b
}

func (i *inode) write(p []byte, off int64) {
	i.data = grow(i.data, off+int64(len(p)))
	copy(i.data[off:], p)
	for page := off / pageSize; page*pageSize < off+int64(len(p)); page++ {
		i.dirty[page] = true
	}
}

// sync makes the dirty pages safe.
func (i *inode) sync() {
	i.synced = grow(i.synced, int64(len(i.data)))[:len(i.data)]
	for page := range i.dirty {
		i.keep(i.synced, page)
	}
	clear(i.dirty)
}

// keep copies a page to what is safe.
func (i *inode) keep(safe []byte, page int64) {
	from := page * pageSize
	if from >= int64(len(safe)) || from >= int64(len(i.data)) {
		return
	}
	copy(safe[from:], i.data[from:min(from+pageSize, int64(len(i.data)))])
}

// crash is what is found after a power cut: the size is the one that is safe or the one that was seen last, and each
// dirty page is there or not.
func (i *inode) crash(chance *rand.Rand) *inode {
	after := newInode()
	size := len(i.synced)
	if chance.IntN(2) == 0 {
		size = len(i.data)
	}
	after.data = grow(slices.Clone(i.synced), int64(size))[:size]
	for _, page := range slices.Sorted(maps.Keys(i.dirty)) {
		if chance.IntN(2) == 0 {
			i.keep(after.data, page)
		}
	}
	after.synced = slices.Clone(after.data)
	return after
}

func sortedKeys(m map[string]*inode) []string { return slices.Sorted(maps.Keys(m)) }

// file is an open file.
type file struct {
	d     *Disk
	name  string
	inode *inode
}

var _ disk.File = (*file)(nil)

func (f *file) ReadAt(op disk.Op, p []byte, off int64) (n int, err error) {
	err = f.d.do(op, f.name, func() error {
		if off >= int64(len(f.inode.data)) {
			return io.EOF
		}
		if n = copy(p, f.inode.data[off:]); n < len(p) {
			return io.EOF
		}
		return nil
	})
	return n, err
}

func (f *file) WriteAt(op disk.Op, p []byte, off int64) error {
	return f.d.do(op, f.name, func() error {
		room := max(f.inode.taken()-off, 0)
		short, err := f.d.claim(max(int64(len(p))-room, 0))
		if err != nil {
			p = p[:min(int64(len(p)), room+short)]
		}
		f.inode.write(p, off)
		return err
	})
}

func (f *file) Sync(op disk.Op) error {
	synced := false
	err := f.d.do(op, f.name, func() error {
		f.inode.sync()
		synced = true
		return nil
	})
	if !synced {
		f.d.mu.Lock()
		defer f.d.mu.Unlock()
		clear(f.inode.dirty) // clean from now on, and yet not safe
	}
	return err
}

func (f *file) Truncate(op disk.Op, size int64) error {
	return f.d.do(op, f.name, func() error {
		f.inode.data = grow(f.inode.data, size)[:size]
		f.inode.synced = f.inode.synced[:min(len(f.inode.synced), int(size))]
		f.inode.room = size
		return nil
	})
}

func (f *file) Allocate(op disk.Op, off, n int64) error {
	return f.d.do(op, f.name, func() error {
		if f.d.NoAllocate {
			return disk.ErrCannotAllocate
		}
		if _, err := f.d.claim(max(off+n-f.inode.taken(), 0)); err != nil {
			return err
		}
		f.inode.room = max(f.inode.room, off+n)
		return nil
	})
}

// Stands is [disk.File].
func (f *file) Stands(op disk.Op, name string, size int64) error {
	return f.d.do(op, name, func() error {
		switch there := f.d.names[name]; {
		case there == nil:
			return &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
		case there != f.inode || f.d.NoIdentity:
			return disk.ErrReplaced
		case int64(len(there.data)) != size:
			return disk.ErrResized
		}
		return nil
	})
}

func (f *file) Close() error { return nil }
