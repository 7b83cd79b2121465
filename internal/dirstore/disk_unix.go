//go:build unix

package dirstore

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// openFlags keep a link, a pipe or a device in a file's place from being followed or waited for.
const openFlags = unix.O_NOFOLLOW | unix.O_NONBLOCK

func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	err = dir.Sync()
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		err = nil // this file system has no such thing, and nothing better to offer
	}
	return errors.Join(err, dir.Close())
}

// wake makes the one that watches the file look up. The file's mtime is its owner's heartbeat and stays what it is, but
// it is set along with the access time: the kernel tells watchers of a change of both, and of no other. Another
// member of the group may only set both to now.
func wake(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	err = os.Chtimes(path, time.Now(), info.ModTime())
	if errors.Is(err, fs.ErrPermission) {
		err = unix.Utimes(path, nil)
	}
	return err
}

func noRoom(err error) bool { return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) }
