package dirstore

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

const openFlags = 0

// syncDir does nothing: a directory cannot be synced here.
func syncDir(string) error { return nil }

// wake makes the one that watches the file look up.
func wake(path string) error { return os.Chtimes(path, time.Now(), time.Time{}) }

func noRoom(err error) bool { return errors.Is(err, windows.ERROR_DISK_FULL) }
