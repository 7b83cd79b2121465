package dirstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// guardPatience is how long a change waits for another one to end. One takes milliseconds.
const guardPatience = 10 * time.Second

// guard is the lock around one change of a key. The kernel frees it when its owner dies.
type guard struct{ file *os.File }

// lock takes a key's guard, which it makes if it is not there. It waits for patience at most.
func (d disk) lock(ctx context.Context, path string, patience time.Duration) (*guard, error) {
	for {
		f, err := d.openGuard(path)
		if err != nil {
			return nil, unchangeable(path, err)
		}
		if f, err = d.lockWithin(ctx, f, patience); err != nil {
			return nil, err
		}
		if same(f, path) {
			return &guard{f}, nil
		}
		_ = f.Close() // somebody replaced the file: what we locked keeps nobody out
	}
}

func (d disk) openGuard(path string) (*os.File, error) {
	if err := d.at("guard.open"); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|openFlags, 0)
	if errors.Is(err, fs.ErrNotExist) {
		f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|openFlags, d.fileMode)
		if err == nil {
			_ = f.Chmod(d.fileMode) // what the umask took away; if it is another's, they have done it
		}
	}
	return f, err
}

func same(f *os.File, path string) bool {
	mine, err1 := f.Stat()
	there, err2 := os.Lstat(path)
	return err1 == nil && err2 == nil && os.SameFile(mine, there)
}

// lockWithin locks f, or the same file opened before, and gives what it has locked.
func (d disk) lockWithin(ctx context.Context, f *os.File, patience time.Duration) (*os.File, error) {
	if err := d.at("guard.flock"); err != nil {
		return nil, closeOn(f, err)
	}
	free, err := tryLock(f)
	if err != nil || free {
		return f, closeOn(f, err)
	}
	w := d.waits.of(f)
	limit := time.NewTimer(patience)
	defer limit.Stop()
	select {
	case err = <-w.locked:
		return w.file, closeOn(w.file, err)
	case <-limit.C:
		err = &GuardError{Path: f.Name(), Waited: patience}
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	d.waits.leave(w)
	return nil, err
}

func closeOn(f *os.File, err error) error {
	if err == nil {
		return nil
	}
	_ = f.Close()
	if unsupported(err) {
		return fmt.Errorf("%w: %s: %w; use a directory on a local disk (--dir or AGENTMUTEX_DIR)", ErrNoFlock, f.Name(), err)
	}
	return fmt.Errorf("%s: %w", f.Name(), err)
}

// unlock frees the guard.
func (g *guard) unlock() { _ = g.file.Close() }
