package dirstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// disk makes all changes to files. Each has a label, and passes the hook first: a test that gives an error there
// makes exactly that change fail, and one that does not return has died in it.
type disk struct {
	hook  func(label string) error // nil but in tests
	waits *guardWaits              // only who takes guards needs it
	// What new files and directories may be used by: their owner, or the root's group too.
	fileMode, dirMode fs.FileMode
}

func (d disk) at(label string) error {
	if d.hook == nil {
		return nil
	}
	return d.hook(label)
}

// modes derives what new files get from the root's own mode: a root that its owner opened to a group is shared
// with it, and nothing is ever opened to anybody else.
func (d *disk) modes(root fs.FileMode) {
	d.fileMode, d.dirMode = 0o600, 0o700
	if root&0o020 != 0 {
		d.fileMode, d.dirMode = 0o660, 0o770|root&fs.ModeSetgid
	}
}

// mkdir makes a directory that may be there already; made tells whether it was not.
func (d disk) mkdir(label, path string) (made bool, err error) {
	if err := d.at(label); err != nil {
		return false, err
	}
	err = os.Mkdir(path, d.dirMode.Perm())
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err == nil && d.dirMode&fs.ModeSetgid != 0 {
		err = os.Chmod(path, d.dirMode) // what the umask took away
	}
	return err == nil, err
}

// stage writes a file under a temporary name, which only who holds the guard uses; [disk.rename] puts it in place.
func (d disk) stage(label, path string, content []byte, durable bool) error {
	if err := d.at(label + ".write"); err != nil {
		return err
	}
	f, err := d.create(path)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil && durable {
		if err = d.at(label + ".sync"); err == nil {
			err = f.Sync()
		}
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// create opens a new file, in place of one that somebody who died left behind.
func (d disk) create(path string) (*os.File, error) {
	const flags = os.O_WRONLY | os.O_CREATE | os.O_EXCL
	f, err := os.OpenFile(path, flags, d.fileMode)
	if errors.Is(err, fs.ErrExist) {
		if err = os.Remove(path); err == nil {
			f, err = os.OpenFile(path, flags, d.fileMode)
		}
	}
	if err != nil {
		return nil, err
	}
	if err := f.Chmod(d.fileMode); err != nil { // what the umask took away
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (d disk) rename(label, from, to string) error {
	if err := d.at(label + ".rename"); err != nil {
		return err
	}
	return os.Rename(from, to)
}

// remove removes a file that may be gone already.
func (d disk) remove(label, path string) error {
	if err := d.at(label + ".remove"); err != nil {
		return err
	}
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// sync makes what happened to a directory's entries safe.
func (d disk) sync(label, path string) error {
	if err := d.at(label + ".syncdir"); err != nil {
		return err
	}
	return syncDir(path)
}

// prepare makes a key's directory, with the root above it. The directories are safe before anything rests on them.
func (d disk) prepare(root, dir string) error {
	if _, err := os.Stat(filepath.Join(dir, "queue")); err == nil {
		return nil
	}
	if err := os.MkdirAll(root, 0o700); err != nil {
		return unchangeable(root, err)
	}
	locks := filepath.Dir(dir)
	for _, path := range []string{locks, dir, filepath.Join(dir, "queue")} {
		made, err := d.mkdir("key.mkdir", path)
		if err == nil && made {
			err = d.sync("key", filepath.Dir(path))
		}
		if err != nil {
			return unchangeable(path, err)
		}
	}
	return nil
}

// unchangeable says that nothing can be changed in the directory.
func unchangeable(path string, err error) error {
	return fmt.Errorf("the state under %s cannot be changed, and nothing was: %w", path, err)
}
