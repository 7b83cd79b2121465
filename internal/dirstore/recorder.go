package dirstore

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"legible.sh/mutex/internal/history"
)

const (
	historyFile = "history.db"
	// historyGuard is locked by the one who moves a spool into the database.
	historyGuard = "history.guard"
	// closePatience is how long [Store.Close] waits for that.
	closePatience = 2 * time.Second
)

var errHistoryLate = errors.New("the history is still being put away")

// recorder writes the history once the guard is free again. Whatever goes wrong here is said once, and is no more
// than a gap in the history.
type recorder struct {
	dir  string
	mode fs.FileMode
	warn func(error)

	mu     sync.Mutex
	moving chan struct{} // closed when the spool has been moved; nil while nobody does. Guarded by mu
	warned bool          // guarded by mu
}

func newRecorder(dir string, mode fs.FileMode, warn func(error)) *recorder {
	if warn == nil {
		warn = func(error) {}
	}
	return &recorder{dir: dir, mode: mode, warn: warn}
}

func (r *recorder) path(name string) string { return filepath.Join(r.dir, name) }

func (r *recorder) database() history.Options {
	return history.Options{Path: r.path(historyFile), Mode: r.mode}
}

// add writes events down. When the spool has grown, a goroutine begins to put it into the database; it ends with that.
func (r *recorder) add(events []history.Event) {
	if len(events) == 0 {
		return
	}
	size, err := appendLines(r.path(spoolFile), r.mode, events)
	r.failed(err)
	if err != nil || size < spoolLimit {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.moving == nil {
		done := make(chan struct{})
		r.moving = done
		go func() {
			defer close(done)
			r.failed(r.move())
			r.mu.Lock()
			defer r.mu.Unlock()
			r.moving = nil
		}()
	}
}

// move puts the spool into the database, unless another process does so at the moment. If it dies on the way, the
// next one begins anew, and a reader sees each event once all the same.
func (r *recorder) move() error {
	d := disk{fileMode: r.mode}
	f, err := d.openGuard(r.path(historyGuard))
	if err != nil {
		return err
	}
	defer f.Close()
	if free, err := tryLock(f); err != nil || !free {
		return err
	}
	moving := r.path(movingFile)
	if !exists(moving) {
		info, err := os.Stat(r.path(spoolFile))
		if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() < spoolLimit {
			return nil // another process was faster
		}
		if err := os.Rename(r.path(spoolFile), moving); err != nil {
			return err
		}
	}
	events, err := settled(moving)
	if err == nil && len(events) > 0 {
		err = history.Append(context.Background(), r.database(), events...)
	}
	if err != nil {
		return err
	}
	return os.Remove(moving)
}

// settled reads a spool that was moved away, when everybody who still had it open has written.
func settled(path string) ([]history.Event, error) {
	f, err := os.OpenFile(path, os.O_RDWR|openFlags, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := awaitLock(f); err != nil {
		return nil, err
	}
	return parseSpool(f)
}

// failed says once that something went wrong.
func (r *recorder) failed(err error) {
	if err == nil {
		return
	}
	r.mu.Lock()
	first := !r.warned
	r.warned = true
	r.mu.Unlock()
	if first {
		r.warn(err)
	}
}

// close waits for what is being moved, for closePatience at most.
func (r *recorder) close() error {
	r.mu.Lock()
	moving := r.moving
	r.mu.Unlock()
	if moving == nil {
		return nil
	}
	limit := time.NewTimer(closePatience)
	defer limit.Stop()
	select {
	case <-moving:
		return nil
	case <-limit.C:
		return errHistoryLate
	}
}
