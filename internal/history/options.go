package history

import (
	"cmp"
	"io/fs"
	"log/slog"
	"time"
)

// Defaults of [Options].
const (
	DefaultMaxAge     = 30 * 24 * time.Hour
	DefaultMaxBytes   = 256 << 20 // of a file
	DefaultQueueLimit = 16384     // events; about 240 bytes each
	DefaultLinger     = 200 * time.Millisecond
	DefaultRetry      = 10 * time.Second
	DefaultBusy       = time.Second
)

// Options say where a history in a file is kept and how much of it. Zero fields mean the defaults.
type Options struct {
	// Path is the database file; its directory must exist.
	Path string
	// Mode is the permission a new file gets; 0600 if zero.
	Mode fs.FileMode
	// MaxAge is how long events are kept; below zero: for ever.
	MaxAge time.Duration
	// MaxBytes is how large the database may grow before the oldest events go.
	MaxBytes int64
	// QueueLimit is how many events may wait to be written.
	QueueLimit int
	// Linger is how long the writer lets events gather before it writes them.
	Linger time.Duration
	// Retry is the longest pause between two attempts while the database fails.
	Retry time.Duration
	// Busy is how long one attempt waits for a lock that somebody else has on the database.
	Busy time.Duration
	// Log is told when writing fails and when it works again; nil for nobody.
	Log *slog.Logger
	// Now is the wall clock; time.Now if nil.
	Now func() time.Time
}

func (o Options) withDefaults() Options {
	o.Mode = cmp.Or(o.Mode, 0o600)
	o.MaxAge = cmp.Or(o.MaxAge, DefaultMaxAge)
	o.MaxBytes = cmp.Or(o.MaxBytes, DefaultMaxBytes)
	o.QueueLimit = cmp.Or(o.QueueLimit, DefaultQueueLimit)
	o.Linger = cmp.Or(o.Linger, DefaultLinger)
	o.Retry = cmp.Or(o.Retry, DefaultRetry)
	o.Busy = cmp.Or(o.Busy, DefaultBusy)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// cutoff is the time before which events may go.
func cutoff(maxAge time.Duration, now func() time.Time) time.Time {
	if maxAge < 0 {
		return time.UnixMilli(0)
	}
	return now().Add(-maxAge)
}
