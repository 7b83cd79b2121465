package disktest

import (
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"

	"legible.sh/mutex/internal/journal/disk"
)

// sectorSize is what is lost or kept as a whole.
const sectorSize = 512

// inode is a file's content, whatever it is called.
type inode struct {
	data   []byte             // in the page cache
	synced []byte             // safe
	dirty  map[int64][][]byte // by sector, what it was made since it was safe: any of it may be on the disk
	room   int64              // set aside, from the beginning of the file
}

func newInode() *inode { return &inode{dirty: map[int64][][]byte{}} }

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
	for sector := off / sectorSize; sector*sectorSize < off+int64(len(p)); sector++ {
		i.dirty[sector] = append(i.dirty[sector], slices.Clone(i.sector(sector)))
	}
}

// sector is what the page cache has of one.
func (i *inode) sector(n int64) []byte {
	size := int64(len(i.data))
	return i.data[min(n*sectorSize, size):min((n+1)*sectorSize, size)]
}

// sync makes what is dirty safe.
func (i *inode) sync() {
	i.synced = grow(i.synced, int64(len(i.data)))[:len(i.data)]
	for sector := range i.dirty {
		put(i.synced, sector, i.sector(sector))
	}
	clear(i.dirty)
}

// put puts a sector into a content, as far as that goes.
func put(content []byte, sector int64, text []byte) {
	if at := sector * sectorSize; at < int64(len(content)) {
		copy(content[at:], text)
	}
}

// after is what is found after a power cut that left this size, and of each dirty sector what kept gives of all that it
// was made since; nil for what it was before.
func (i *inode) after(size int64, kept func(sector int64, versions [][]byte) []byte) *inode {
	found := newInode()
	found.data = grow(slices.Clone(i.synced), size)[:size]
	for _, sector := range slices.Sorted(maps.Keys(i.dirty)) {
		if text := kept(sector, i.dirty[sector]); text != nil {
			put(found.data, sector, text)
		}
	}
	found.synced = slices.Clone(found.data)
	return found
}

// crash leaves it to chance. The size is the one that is safe, the one that was seen last, or one between them.
func (i *inode) crash(chance *rand.Rand) *inode {
	size, last := int64(len(i.synced)), int64(len(i.data))
	switch between := (last - size) / sectorSize; chance.IntN(3) {
	case 0:
		size = last
	case 1:
		if between > 0 {
			size += chance.Int64N(between) * sectorSize
		}
	}
	return i.after(size, func(_ int64, versions [][]byte) []byte {
		if chance.IntN(2) == 0 {
			return nil
		}
		return versions[chance.IntN(len(versions))]
	})
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
