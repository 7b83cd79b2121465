package dirstore

import (
	"github.com/fsnotify/fsnotify"
)

// bell rings when something happens to a file, or in a directory. A nil bell never rings: then polling has to do, as
// on file systems that notify nobody.
type bell struct {
	watcher *fsnotify.Watcher
	path    string
	ring    chan struct{}
}

// newBell watches a path; nil if the system cannot.
func newBell(path string) *bell {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil
	}
	if err := w.Add(path); err != nil {
		_ = w.Close()
		return nil
	}
	b := &bell{watcher: w, path: path, ring: make(chan struct{}, 1)}
	go b.listen()
	return b
}

// on is a bell on path: this one if it is, else a new one in its place.
func (b *bell) on(path string) *bell {
	if b != nil && b.path == path {
		return b
	}
	b.close()
	return newBell(path)
}

// listen takes events as they come, so that the system's queue of them never fills up, and keeps one ring at most.
// It ends when the bell is closed.
func (b *bell) listen() {
	for {
		select {
		case _, ok := <-b.watcher.Events:
			if !ok {
				return
			}
		case _, ok := <-b.watcher.Errors: // an overflow: something happened
			if !ok {
				return
			}
		}
		select {
		case b.ring <- struct{}{}:
		default:
		}
	}
}

func (b *bell) rings() <-chan struct{} {
	if b == nil {
		return nil
	}
	return b.ring
}

func (b *bell) close() {
	if b != nil {
		_ = b.watcher.Close()
	}
}
