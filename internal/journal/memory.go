package journal

import (
	"time"

	"legible.sh/mutex/internal/lease"
)

// Memory is the journal of a server without a data directory: it keeps nothing, and so has nothing to wait for.
type Memory struct{}

// Append keeps nothing.
func (Memory) Append(lease.Topic, []lease.Event) error { return nil }

// Recall knows nothing.
func (Memory) Recall(lease.Topic, time.Time) []lease.Event { return nil }

// Suspended is never true: there is always room for nothing.
func (Memory) Suspended() bool { return false }

// Floor keeps nothing: the registry's own floor lasts as long as the process.
func (Memory) Floor(lease.Topic, lease.Fence) {}
