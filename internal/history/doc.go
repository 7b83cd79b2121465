// Package history keeps the audit trail: who held what, since when, and how it ended. It is evidence, not the
// source of truth; no lock depends on it.
//
// A [Store] owns one SQLite database, a file or one in memory, and one goroutine, its writer. [Store.Observe] copies
// events into a bounded queue and returns; the writer takes what has gathered and writes it in a few transactions.
// Reads run on their callers' goroutines, over connections of their own.
//
// # Promises
//
//   - Observe never blocks, never fails and does not keep the slice it is given. When the queue is full, events are
//     dropped and counted, renewals first.
//   - A database that is locked, full, read-only, damaged or gone costs its callers nothing but history. The writer
//     logs that once, tries again by itself, and says once how many events were lost. A damaged file is set aside
//     as history.db.corrupt (replacing an earlier one), and a new one begun.
//   - A file that is removed or replaced while it is open is left for whatever has its name at the next turn, or for a
//     new one. What was in it is lost, and logged.
//   - Of the renewals of one lease within a fifth of a second, the last may stand for all.
//   - Event ids rise in the order of writing, and are never used twice while an event lives.
//   - Old events go a block at a time, so that retention never holds the writer up for long.
//   - No lease, ticket or access token gets into the database: an event carries the lease's public id.
//
// # Layout
//
// Events lie in the order of their ids, in blocks of 2,048 consecutive ids. There is no index over them: keeping one
// costs more than the insert itself. Instead each block has one row that says which topics occur in it and which
// times it spans, so a read walks the block rows, newest first, and looks only into blocks that have something
// to find. Renewals are told apart there, too, so that leaving them out costs nothing. The view "history" shows
// the events in readable form to whoever opens the file with another tool.
//
// # What callers may not assume
//
// That an event is on disk when Observe returns, or ever. Reads wait a moment for what was observed before them, but
// not for long. Times are the wall clock's and may go back; ids do not.
//
// Short-lived processes that share a database (the directory store) use [Append] and [Read], which need no goroutine.
//
// To test, use [Store.Flush] instead of waiting, and a directory of the test's own. A database is made to fail by a
// second connection that locks it, by a small tmpfs, or by overwriting its pages.
package history
