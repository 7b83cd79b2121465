// Package record is the line format of the journal: one JSON object a line, hand-written on the way out and read
// back with a scanner of its own on the way in.
//
// It is pure: bytes in, events out and the other way round. It does no I/O and knows nothing of files, commits or
// what a sequence of records means.
//
// # The records
//
// Times are Unix milliseconds on the wall clock. Durations are milliseconds too, with decimals where they need
// them. Fields marked ? are left out when empty.
//
//	topic    topic capacity fence                  what is known of a topic apart from its leases
//	grant    topic lease name fence since expires  a permit was given; also ttl slot? capacity? (when this is the
//	                                               first to say it) key? enqueued? reason? host? pid?
//	renew    topic lease fence ttl at expires      a lease lives longer
//	release  topic lease fence at                  its owner gave it back
//	expire   topic lease fence at                  nobody renewed it in time
//	force    topic lease fence at by?              somebody ended it from outside
//	wait     topic key name ttl enqueued           a ticket entered the queue; also reason? host? pid?
//	leave    topic key at cause?                   a ticket left the queue; cause "gave up" spends it
//	spent    topic key at                          a ticket that gets nothing any more
//	floor    topic? fence high?                    new topics start above fence; topic is retired; high is the
//	                                               highest fence granted to anyone so far
//	raise    fence                                 every topic's fence, and the floor, are at least this high
//	clock    at boot up                            the wall clock and the machine's own clock, read together
//
// Any record may carry "synced":true: all that stands before it in the file was safe when it was written. Damage
// before such a record is damage to acknowledged records; damage after the last one can be a torn write.
//
// Blank lines are skipped. The file ends in some, ready to be written over, while a server runs and after one was
// killed.
//
// The format only grows. Fields and types that are not known are skipped on reading, so a file may come from a
// later version; and a first-generation file, which has only topic, grant, renew and release, without ttl, slot,
// key and at, reads as it is: ttl is expires - since there, and the slot is -1 for "the lowest free one".
//
// # What callers may not assume
//
// [Parse] gives values that are well-formed one by one (a topic is a topic, a fence is in range), not ones that make
// sense together: a lease may be released that was never granted. The lease's secret is in the file, as the format
// wants it; no error of this package repeats any part of a line.
//
// To test: every event that is durable must come back as it went in, and the fuzz test compares the scanner with
// encoding/json on whatever it can think of.
package record
