// Package journal keeps what topics have promised through restarts, kills, power cuts and full disks.
//
// [Memory] is the journal of a server without a data directory and keeps nothing. [File] keeps a file of records,
// mutex.jsonl, in a directory of its own; the package record says what is in it.
//
// # The life of a record
//
// An actor hands a turn's events to [File.Append]. Its goroutine encodes them and leaves them in a queue. There is one
// turn to commit. Who finds it free takes it: takes all that is queued, writes it in one write, syncs once, takes the
// events into the fold, and only then lets the waiting actors go on. Who does not waits. While one batch syncs, the next
// gathers; the journal's own goroutine takes the turn for that, and for all that time brings. The fold is what all records
// so far come to; it is the one source for compaction, for the new file after a failure, and for rebuilding an actor.
//
// Records are written over blank lines that were laid ahead of need, after the answers of an earlier commit: a sync of
// bytes that were there before is cheaper than one of a file that grows. So the file of a running or killed server ends
// in blank lines, and what a power cut takes back of a batch, sector by sector, reads as blank lines too; survey.torn
// tells that from damage.
//
// # Promises
//
//   - When Append has returned nil, its events are in the file, synced (in mode [Always]), in the order of the calls.
//   - When it has returned an error, nothing of them will ever be shown: neither [File.Recall] nor, once the journal has
//     recovered, a restart knows of them. If the process dies before it has recovered, a restart may find them: their
//     outcome is unknown, like that of a lost answer.
//   - A fence never goes back, whatever happens to the record that it was granted with.
//   - After a write or a sync has failed the file is not trusted any more, though it may read back well: everything is
//     refused until a new one, made from the fold, has taken its place. That is tried at once, and again by itself.
//   - A file that was removed, replaced or cut under the server is noticed before the next record is written, or within a
//     second, and a new one, made from the fold, takes its place.
//   - Before there is a chance that a renewal or a release finds the disk full, [File.Suspended] says so. Grants that are
//     on their way then are refused with lease.ErrSuspended, if what they would need later has no room; renewals and
//     releases use the room that was set aside for them.
//   - A compaction does not stop commits, but for the moment of its end.
//
// # What callers may not assume
//
// Append blocks for as long as a sync takes, and while a new file is made after a failure. One topic must not call it
// twice at once. Events that are not durable are dropped: a place without a ticket, or a request that came back to its
// place, is not known after a restart. [File.Changed] has one reader.
//
// To test: with the simulated disk of package disktest, which fails exactly one call, fills up, or loses any sectors; with
// real directories where the real disk matters; the fuzz test reads whatever it can think of.
package journal
