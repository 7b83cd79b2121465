package journal

import "sync"

// sharedFold is the fold under its lock: the committer takes in what has become safe, a draft copies it, actors recall
// their topics from it, each holding it for no longer than a chunk.
type sharedFold struct {
	mu   sync.Mutex
	fold *fold
}

// with runs use while nobody else has the fold. Use must not keep it.
func (s *sharedFold) with(use func(*fold)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	use(s.fold)
}
