package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"legible.sh/mutex/internal/journal/disk"
)

// errOtherJournal keeps two histories apart: which of them counts is not for the journal to say.
var errOtherJournal = errors.New("another directory, with a journal of its own, is in the data directory's place: " +
	"put the right one back, or restart")

// look tells whether whoever starts next will find what was written. Somebody may have removed, replaced or cut the
// file, or moved the directory away: writing and syncing go on well then, into a file that nobody will read.
func (c *committer) look() error {
	if c.blind {
		return nil
	}
	if err := c.file.Stands(disk.AppendLook, filepath.Join(c.dir, journalName), c.filled); err != nil {
		return fmt.Errorf("%s: %w", disk.AppendLook, err)
	}
	return nil
}

// lookAround comes ahead of every commit, since a write would hide that the file was cut, and now and then in between.
// Nothing is lost: what was answered is in the fold, and so in the new file, and what waits goes into that one too.
func (c *committer) lookAround() {
	if c.fault != nil {
		return
	}
	if err := c.look(); err != nil {
		c.fail(err)
		c.recoverSoon()
	}
}

// learn finds out whether the file system can tell, from the first file that was put in its place.
func (c *committer) learn() {
	if c.probed {
		return
	}
	c.probed = true
	err := c.look()
	c.blind = errors.Is(err, disk.ErrReplaced) || errors.Is(err, disk.ErrResized)
	if c.blind {
		c.log.Warn("this file system does not tell whether a file is still the one at its name: nobody will notice "+
			"if the journal is removed while the server runs", "error", err)
	}
}

// newDraft begins a new file in the directory that is ours.
func (c *committer) newDraft() (*draft, error) {
	if err := c.ownDirectory(); err != nil {
		return nil, err
	}
	return newDraft(c.fs, c.dir, c.shared, c.options.Clock)
}

// place puts a draft in the journal's place, if the directory is still the one in which it was made.
func (c *committer) place(d *draft) error {
	if err := c.lock.Covers(disk.NewLook); err != nil {
		return fmt.Errorf("%s: %w", disk.NewLook, err)
	}
	return d.place()
}

// discard leaves nothing of a draft. A file that cannot be removed is emptied by the next one. Where the directory was moved
// away the draft went with it, and a file of its name is another server's.
func (c *committer) discard(d *draft) {
	d.end()
	_ = d.file.Close()
	if c.lock.Covers(disk.NewLook) == nil {
		_ = c.fs.Remove(disk.NewRemove, filepath.Join(c.dir, draftName))
	}
}

// ownDirectory makes sure that no other server can have the directory. Where the one that was locked was moved away or
// removed, and there is a new one of its name, that is locked before anything is written there.
func (c *committer) ownDirectory() error {
	err := c.lock.Covers(disk.NewLook)
	if err == nil {
		return nil
	}
	if !errors.Is(err, disk.ErrReplaced) {
		return fmt.Errorf("%s: %w", disk.NewLook, err)
	}
	lock, err := c.fs.Lock(disk.LockDir, filepath.Join(c.dir, lockName))
	if err != nil {
		return fmt.Errorf("data directory %s: %w", c.dir, err)
	}
	other, err := c.fs.Open(disk.BootOpen, filepath.Join(c.dir, journalName))
	if errors.Is(err, fs.ErrNotExist) {
		c.log.Warn("the data directory was replaced by an empty one; the journal goes on there")
		old := c.lock
		c.lock = lock
		return old.Close()
	}
	if err == nil {
		err = errors.Join(errOtherJournal, other.Close())
	}
	return errors.Join(err, lock.Close())
}
