package journal

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"

	"legible.sh/mutex/internal/journal/disk"
	"legible.sh/mutex/internal/journal/record"
)

// draft is a new journal in the making, under a name of its own: a copy of the fold, and what is acknowledged while it
// is copied. Only when all of it is safe does it take the old one's place.
type draft struct {
	fs     disk.FS
	dir    string
	shared *sharedFold
	left   *snapshot // what is not copied yet
	clock  func() Reading

	file    disk.File
	size    int64
	buf     []byte
	aborted atomic.Bool // set by the committer, seen by copy
	outcome chan error  // of copy, where that runs beside commits; holds one
}

var errAborted = errors.New("given up: the journal has failed meanwhile")

// newDraft begins with an empty file, and from here on the fold keeps what the draft must follow.
func newDraft(fs disk.FS, dir string, shared *sharedFold, clock func() Reading) (*draft, error) {
	file, err := fs.Create(disk.NewCreate, filepath.Join(dir, draftName))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", disk.NewCreate, err)
	}
	d := &draft{fs: fs, dir: dir, shared: shared, clock: clock, file: file, outcome: make(chan error, 1)}
	shared.with(func(f *fold) {
		d.left = f.beginSnapshot()
		d.buf = f.limits(f.anchor.record(nil))
	})
	return d, nil
}

// copy writes the whole fold and makes it safe, while the committer goes on: the long part.
func (d *draft) copy() error {
	if err := d.walk(); err != nil {
		return err
	}
	return d.save()
}

// walk writes the whole fold.
func (d *draft) walk() error {
	for more := true; more; {
		if d.aborted.Load() {
			return errAborted
		}
		d.shared.with(func(f *fold) { d.buf, more = f.chunk(d.left, d.buf, f.anchor.present(d.clock())) })
		if err := d.flush(); err != nil {
			return err
		}
	}
	return nil
}

// save writes what there is and makes it safe.
func (d *draft) save() error {
	if err := d.flush(); err != nil {
		return err
	}
	if err := d.file.Sync(disk.NewSync); err != nil {
		return fmt.Errorf("%s: %w", disk.NewSync, err)
	}
	return nil
}

func (d *draft) flush() error {
	if len(d.buf) == 0 {
		return nil
	}
	if err := d.file.WriteAt(disk.NewWrite, d.buf, d.size); err != nil {
		return fmt.Errorf("%s: %w", disk.NewWrite, err)
	}
	d.size += int64(len(d.buf))
	d.buf = d.buf[:0]
	return nil
}

// finish writes what was acknowledged since the copy ended, and makes all of it safe. The committer must stand still.
//
// The last line says the limits again, since repair rests on them: whatever line is lost to damage, no fence can repeat.
// It is marked. All before it will be safe when anybody reads this file as a journal, since the sync comes before the
// change of names; and a file that is torn in its first batch, mark and all, is known as one whose batches have marks.
func (d *draft) finish() error {
	d.shared.with(func(f *fold) { d.buf = record.AppendSynced(f.takeTail(d.buf), f.limits(nil)) })
	return d.save()
}

// place puts the draft in the journal's place. After an error it is not known which of the two is there.
func (d *draft) place() error {
	if err := putInPlace(d.fs, d.dir); err != nil {
		return err
	}
	d.end()
	return nil
}

// putInPlace gives a file in a data directory that is complete and safe the journal's name.
func putInPlace(fs disk.FS, dir string) error {
	if err := fs.Rename(disk.NewRename, filepath.Join(dir, draftName), filepath.Join(dir, journalName)); err != nil {
		return fmt.Errorf("%s: %w", disk.NewRename, err)
	}
	if err := fs.SyncDir(disk.NewSyncDir, dir); err != nil {
		return fmt.Errorf("%s: %w", disk.NewSyncDir, err)
	}
	return nil
}

// end stops following the fold.
func (d *draft) end() { d.shared.with((*fold).endSnapshot) }
