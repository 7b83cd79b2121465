// Package history keeps the audit trail: who held what, since when, and how it ended. It is evidence, not the
// source of truth; no lock depends on it.
//
// A [Store] owns one SQLite database and one goroutine, its writer. [Store.Observe] copies events into a bounded queue
// and returns; the writer takes what has gathered and writes it in a few transactions. Reads run on their callers'
// goroutines, over connections of their own.
//
// A [Memory] ends with the process, so it needs neither SQL nor a goroutine: it is a ring. Asked the same, the two
// answer the same.
//
// # Promises of both
//
//   - Observe never blocks, never fails and does not keep the slice it is given.
//   - Of the renewals of one lease within a fifth of a second, the last may stand for all.
//   - Event ids rise in the order of writing, and are never used twice while an event lives.
//   - No lease, ticket or access token is kept: an event carries the lease's public id.
//
// # Promises of a Store
//
//   - When the queue is full, events are dropped and counted, renewals first.
//   - A database that is locked, full, read-only, damaged or gone costs its callers nothing but history. The writer
//     logs that once, tries again by itself, and says once how many events were lost. A damaged file is set aside
//     as history.db.corrupt (replacing an earlier one), and a new one begun.
//   - A file that is removed or replaced while it is open is left for whatever has its name at the next turn, or for a
//     new one. What was in it is lost, and logged.
//   - Old events go a block at a time, so that retention never holds the writer up for long.
//
// # Promises of a Memory
//
//   - An event can be read as soon as Observe returns. It costs 0.2 µs and, once the ring is full, no allocation. Its texts
//     are copied: they may be parts of a whole request.
//   - It stays within its bytes, texts included, and takes them only as events come. The oldest events go first, a
//     segment at a time. Renewals have a quarter of the room, and never push out anything else.
//   - A read holds the lock only to note which segments there are, however much it reads.
//
// # Layout of a database
//
// Events lie in the order of their ids, in blocks of 2,048 consecutive ids. There is no index over them: keeping one
// costs more than the insert itself. Instead each block has one row that says which topics occur in it and which
// times it spans, so a read walks the block rows, newest first, and looks only into blocks that have something
// to find. Renewals are told apart there, too, so that leaving them out costs nothing. The view "history" shows
// the events in readable form to whoever opens the file with another tool.
//
// # Layout in memory
//
// There is a ring for changes and one for renewals, each a list of segments of some 1,000 entries; a read with renewals
// merges the two by id. An entry is 72 bytes without a pointer. Its texts are numbers: each segment has every text of its
// entries once, in one slice of bytes, so that texts go with the segment and nobody has to count who uses them. To look
// for a topic is to look for its number, once in each segment. Only the newest segment has a hash table of its texts.
//
// Segments but the newest never change, and of that one only what lies past its end; so reads go without the lock. What
// would break that waits until nobody reads: putting a renewal in place of the one before, and filling a forgotten
// segment anew.
//
// # What callers may not assume
//
// That an event is on disk when Observe returns, or ever. Reads of a Store wait a moment for what was observed before
// them, but not for long. Times are the wall clock's and may go back; ids do not.
//
// Short-lived processes that share a database (the directory store) use [Append] and [Read], which need no goroutine.
//
// To test a Store, use [Store.Flush] instead of waiting, and a directory of the test's own. A database is made to fail
// by a second connection that locks it, by a small tmpfs, or by overwriting its pages.
package history
