package dirstore

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"legible.sh/mutex/internal/lease"
	"legible.sh/mutex/internal/locker"
)

const (
	// DefaultTTL is how long a lease lives whose request does not say it.
	DefaultTTL = 15 * time.Minute
	// DefaultPoll is how often everybody who waits looks by himself, beneath the notifications.
	DefaultPoll = time.Second

	// minTTL and maxTTL bound a lease's life.
	minTTL = 100 * time.Millisecond
	maxTTL = 365 * 24 * time.Hour
)

// Options say which directory to use, and how.
type Options struct {
	Dir  string        // made, for its owner alone, by the first change
	Poll time.Duration // [DefaultPoll] if 0
	// Under are the leases that this process runs under: an acquire that would wait for one of them fails at once.
	Under []Under
	// Warn is told, once, that the history cannot be written; nil for nobody.
	Warn func(error)
}

// Under is a lease that this process was started under.
type Under struct {
	Key   string
	Fence int64
}

// Store is a directory as a lock service. Its methods may be called from several goroutines.
type Store struct {
	dir     string
	poll    time.Duration
	under   []Under
	clock   func() reading
	disk    disk
	patient time.Duration // for a guard
	beat    time.Duration // between a waiter's heartbeats
	history *recorder

	mu      sync.Mutex
	granted map[string]lease.Fence // by lease id: what this process was granted and may take back. Guarded by mu
}

var (
	_ locker.Locker    = (*Store)(nil)
	_ locker.Reclaimer = (*Store)(nil)
)

// Open gives a directory's store. It looks at the directory and changes nothing, so it need not be there.
// End it with [Store.Close].
func Open(o Options) (*Store, error) {
	if o.Dir == "" {
		return nil, fmt.Errorf("%w: which directory?", locker.ErrUsage)
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	s := &Store{
		dir: dir, poll: cmp.Or(o.Poll, DefaultPoll), under: o.Under, clock: readClock, patient: guardPatience, beat: beatEvery,
		disk: disk{waits: new(guardWaits)}, granted: make(map[string]lease.Fence),
	}
	switch info, err := os.Stat(dir); {
	case err == nil && !info.IsDir():
		return nil, fmt.Errorf("%w: %s is not a directory", locker.ErrUsage, dir)
	case err == nil:
		s.disk.modes(info.Mode())
	default:
		s.disk.modes(0)
	}
	s.history = newRecorder(dir, s.disk.fileMode, o.Warn)
	return s, nil
}

// Dir is the directory, as an absolute path.
func (s *Store) Dir() string { return s.dir }

// Close waits for history that is being put away, for [closePatience] at most. Nothing is lost if it does not.
func (s *Store) Close() error { return s.history.close() }

func (s *Store) locks() string { return filepath.Join(s.dir, "locks") }

// path is a key's directory.
func (s *Store) path(key string) string { return filepath.Join(s.locks(), escape(key)) }

// remember keeps the fence of a lease, so that it can be taken back if nobody was granted the key since.
func (s *Store) remember(id string, fence lease.Fence) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.granted[id] = fence
}

func (s *Store) recall(id string) lease.Fence {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.granted[id]
}

func (s *Store) forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.granted, id)
}

// exists tells whether a file is there, as far as can be seen.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, os.ErrNotExist)
}
