package journal

import (
	"time"

	"legible.sh/mutex/internal/lease"
)

// Memory is the journal of a server without a data directory: it keeps nothing, and a restart starts over.
type Memory struct{}

// Append returns at once: nothing is to be made safe.
func (Memory) Append(lease.Topic, []lease.Event) error { return nil }

// Recall knows nothing.
func (Memory) Recall(lease.Topic, time.Time) []lease.Event { return nil }

// Suspended is false: memory does not fill.
func (Memory) Suspended() bool { return false }

// Floor forgets: the registry keeps the floor for as long as the process lives.
func (Memory) Floor(lease.Topic, lease.Fence) {}

// Healthy is nil.
func (Memory) Healthy() error { return nil }

// Changed never says anything.
func (Memory) Changed() <-chan struct{} { return nil }

// Close does nothing.
func (Memory) Close() error { return nil }
