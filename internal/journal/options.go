package journal

import (
	"cmp"
	"log/slog"
	"time"

	"legible.sh/mutex/internal/journal/disk"
)

// Fsync says when what was written is made safe against a power cut. Against a kill of the process every mode is safe.
type Fsync string

// The modes.
const (
	// Always: before any answer that rests on it. Nothing acknowledged is lost.
	Always Fsync = "always"
	// Interval: once every [Options.Interval]. A power cut loses at most what was acknowledged in that time.
	Interval Fsync = "interval"
	// Never: when the system gets round to it. A power cut loses what was acknowledged since, often half a minute.
	Never Fsync = "never"
)

// Options are what a journal can be told. Keep and Log must be set; the rest has defaults.
type Options struct {
	Keep     time.Duration // how long spent keys are remembered, and places kept for those who are away after a restart
	Log      *slog.Logger
	Fsync    Fsync         // Always
	Interval time.Duration // between two syncs in mode Interval; 1 s

	// Room is set aside on the disk so that all leases can be renewed and released for ReserveSpan (1 h) when it is
	// full, but not more than ReserveMax bytes (256 MiB). Before it would not be enough, grants are suspended.
	ReserveSpan time.Duration
	ReserveMax  int64
	// CompactAt is how large the file gets, in bytes, before it is compacted under load (16 MiB), if it is also more
	// than four times what a compact one would be.
	CompactAt int64
	// Blanks is how far ahead of the records blank lines are laid for them, in bytes (256 KiB): between a half of it and
	// one and a half.
	Blanks int64

	// OnCommit is shown each commit, one after the other, while others may wait: it must not block. May be nil.
	OnCommit func(Commit)
	Disk     disk.FS        // the machine's
	Clock    func() Reading // the machine's
}

// Commit is one group commit.
type Commit struct {
	Records, Bytes int
	Write, Sync    time.Duration // Sync is 0 where the mode does not sync each commit
}

func (o Options) withDefaults() Options {
	o.Fsync = cmp.Or(o.Fsync, Always)
	o.Interval = cmp.Or(o.Interval, time.Second)
	o.ReserveSpan = cmp.Or(o.ReserveSpan, time.Hour)
	o.ReserveMax = cmp.Or(o.ReserveMax, 256<<20)
	o.CompactAt = cmp.Or(o.CompactAt, 16<<20)
	o.Blanks = cmp.Or(o.Blanks, 256<<10)
	if o.Disk == nil {
		o.Disk = disk.OS{}
	}
	if o.Clock == nil {
		o.Clock = ReadClock
	}
	return o
}
