package dirstore

import (
	"os"
	"slices"
	"sync"
)

// guardWaits are the waits in the kernel for guards. There is none with a limit, and none that could be called off: whoever
// gives up leaves a thread and an open file behind until the guard is free. So the next who waits for the same guard goes on
// with what was left, and there are never more of them than there were who waited at once.
type guardWaits struct {
	mu   sync.Mutex
	left []*guardWait // that nobody waits for just now. Guarded by mu
}

type guardWait struct {
	file   *os.File
	locked chan error // one slot; told under mu, and only while somebody waits
}

// of gives a wait for f's lock: one that was left, and closes f, or a new one.
func (g *guardWaits) of(f *os.File) *guardWait {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, w := range g.left {
		if w.file.Name() == f.Name() && same(w.file, f.Name()) {
			g.left = slices.Delete(g.left, i, i+1)
			_ = f.Close()
			return w
		}
	}
	w := &guardWait{file: f, locked: make(chan error, 1)}
	go g.await(w)
	return w
}

// await waits in the kernel, until the lock is there. One that nobody waits for is let go at once.
func (g *guardWaits) await(w *guardWait) {
	err := awaitLock(w.file)
	g.mu.Lock()
	defer g.mu.Unlock()
	if i := slices.Index(g.left, w); i >= 0 {
		g.left = slices.Delete(g.left, i, i+1)
		_ = w.file.Close()
		return
	}
	w.locked <- err
}

// leave gives up a wait.
func (g *guardWaits) leave(w *guardWait) {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-w.locked: // in this very moment
		_ = w.file.Close()
	default:
		g.left = append(g.left, w)
	}
}
