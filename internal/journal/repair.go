package journal

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"legible.sh/mutex/internal/journal/disk"
	"legible.sh/mutex/internal/journal/record"
	"legible.sh/mutex/internal/lease"
)

// How much further than the highest fence that can be read a repair raises all of them.
const (
	// step is more than can have been granted while a compact file was begun, between the two places that say how high
	// the fences were, for the case that only the first of them is left.
	step = 1 << 20
	// leap is for a file that has lost both, or was cut off between them, and lost all that came later.
	leap = 1 << 32
)

// Repair makes a damaged journal one that a server starts with. It keeps a backup of the file as it was, drops only the
// lines that cannot be read, and raises the fence of every topic and of those to come so far that none can repeat,
// whatever the lost lines said: a damaged line may not even name the right topic. A lease whose grant is lost is gone;
// one whose end is lost lives until its time is over. It refuses while a server has the directory; the error is
// [ErrNoDamage] when there is nothing to repair, a torn record at the end included.
func Repair(dir string, options Options) (*Report, error) {
	options = options.withDefaults()
	fs := options.Disk
	lock, err := fs.Lock(disk.LockDir, filepath.Join(dir, lockName))
	if err != nil {
		return nil, fmt.Errorf("data directory %s: %w", dir, err)
	}
	defer lock.Close()
	before, err := Check(dir, options)
	if err != nil {
		return nil, err
	}
	if len(before.Damage) == 0 {
		return before, ErrNoDamage
	}
	fix := repair{fs: fs, dir: dir, backup: backupName(options.Clock())}
	after, err := fix.run(options)
	if err != nil {
		return before, err
	}
	after.Damage, after.Torn = before.Damage, before.Torn
	return after, nil
}

func backupName(now Reading) string {
	return journalName + ".damaged-" + now.Now.UTC().Format("20060102T150405.000")
}

// repair is one repair in progress.
type repair struct {
	fs     disk.FS
	dir    string
	backup string
	file   disk.File
}

func (p *repair) run(options Options) (*Report, error) {
	var err error
	if p.file, err = p.fs.Open(disk.CheckOpen, filepath.Join(p.dir, journalName)); err != nil {
		return nil, fmt.Errorf("%s: %w", disk.CheckOpen, err)
	}
	defer p.file.Close()
	if err := p.keep(); err != nil {
		return nil, err
	}
	raised, err := p.rewrite()
	if err != nil {
		return nil, err
	}
	after, err := Check(p.dir, options)
	if err != nil {
		return nil, err
	}
	after.Backup, after.RaisedTo = filepath.Join(p.dir, p.backup), raised
	return after, nil
}

// keep copies the file as it is.
func (p *repair) keep() error {
	copied, err := p.fs.Create(disk.BackupCreate, filepath.Join(p.dir, p.backup))
	if err != nil {
		return fmt.Errorf("%s: %w", disk.BackupCreate, err)
	}
	defer copied.Close()
	b := make([]byte, windowSize)
	for at := int64(0); ; {
		n, err := p.file.ReadAt(disk.CheckRead, b, at)
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("%s: %w", disk.CheckRead, err)
		}
		if n == 0 {
			break
		}
		if err := copied.WriteAt(disk.BackupWrite, b[:n], at); err != nil {
			return fmt.Errorf("%s: %w", disk.BackupWrite, err)
		}
		at += int64(n)
	}
	if err := copied.Sync(disk.BackupSync); err != nil {
		return fmt.Errorf("%s: %w", disk.BackupSync, err)
	}
	return nil
}

// rewrite makes a new file of the lines that can be read, as they are, and the raised fences.
func (p *repair) rewrite() (raised lease.Fence, err error) {
	out, err := p.fs.Create(disk.NewCreate, filepath.Join(p.dir, draftName))
	if err != nil {
		return 0, fmt.Errorf("%s: %w", disk.NewCreate, err)
	}
	w := writer{file: out}
	found, err := examine(p.file, disk.CheckRead, func(text []byte, _ *record.Record, _ bool) { w.line(text) })
	if err == nil {
		raised = found.raise()
		w.line(record.AppendSynced(nil, record.AppendRaise(nil, raised))) // marked, as the end of what is safe before the file has its name
		err = w.finish()
	}
	if err == nil {
		err = putInPlace(p.fs, p.dir)
	}
	if err != nil {
		_ = out.Close()
		_ = p.fs.Remove(disk.NewRemove, filepath.Join(p.dir, draftName))
		return 0, err
	}
	return raised, out.Close()
}

// raise is a fence that nothing in the file has reached, lost lines and what may have been in a gap included: no byte of
// them can have granted more than one.
func (s *survey) raise() lease.Fence {
	raised := s.highest + step
	if s.limits == 0 || s.cutOff() {
		raised = s.highest + leap
	}
	for _, d := range s.damage {
		raised += lease.Fence(d.Bytes)
	}
	return min(raised+lease.Fence(s.gaps), lease.MaxFence)
}

// writer collects lines into large writes.
type writer struct {
	file disk.File
	buf  []byte
	size int64
	err  error
}

func (w *writer) line(text []byte) {
	w.buf = append(w.buf, text...)
	if text[len(text)-1] != '\n' {
		w.buf = append(w.buf, '\n')
	}
	if len(w.buf) >= windowSize {
		w.flush()
	}
}

func (w *writer) flush() {
	if w.err == nil {
		w.err = w.file.WriteAt(disk.NewWrite, w.buf, w.size)
	}
	w.size += int64(len(w.buf))
	w.buf = w.buf[:0]
}

func (w *writer) finish() error {
	w.flush()
	if w.err != nil {
		return fmt.Errorf("%s: %w", disk.NewWrite, w.err)
	}
	if err := w.file.Sync(disk.NewSync); err != nil {
		return fmt.Errorf("%s: %w", disk.NewSync, err)
	}
	return nil
}
