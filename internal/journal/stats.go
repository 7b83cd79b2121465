package journal

import "sync/atomic"

// Stats are figures of a running journal.
type Stats struct {
	Records     uint64 // appended since the start
	Commits     uint64
	Failures    uint64 // commits that failed
	Compactions uint64
	Size        int64 // of the file's records, bytes; the blank lines behind them are not counted
	Reserved    int64 // set aside behind it, bytes
	Needed      int64 // of that, to renew and release all leases for a while
}

// counters are written by the committer and read by anybody.
type counters struct {
	records, commits, failures, compactions atomic.Uint64
	size, reserved, needed                  atomic.Int64
}

func (c *counters) stats() Stats {
	return Stats{
		Records: c.records.Load(), Commits: c.commits.Load(), Failures: c.failures.Load(),
		Compactions: c.compactions.Load(), Size: c.size.Load(), Reserved: c.reserved.Load(), Needed: c.needed.Load(),
	}
}
