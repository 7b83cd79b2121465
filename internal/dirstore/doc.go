// Package dirstore is a lock service without a server: a [locker.Locker] over a directory of plain files, for the
// processes of one machine.
//
// # What it owns
//
// The directory, and in it, for each key, locks/<key, escaped>/ with
//
//	guard              locked with flock around every change, and never removed
//	holder.json        who holds the key; replaced as a whole, synced, gone when it is free
//	fence-<n>          an empty file whose name is the highest fence granted so far; it outlives everything
//	queue/<n>-<id>.json one file a waiter, in the order of their numbers; its mtime is the waiter's heartbeat
//	room               space set aside, so that a lease can be renewed on a full disk
//
// and beside them the history: history.jsonl, which takes events as they happen, and history.db, into which it goes
// when it has grown. The rules are those of package lease: a change takes the guard, builds a [lease.State]
// from the files, runs one command on it and makes the files say what came out. The state goes by lease ids, which
// are public; a token is never written, only its SHA-256. What the rules know nothing of stays here: a lease whose
// time is over but which nobody has taken over yet (expired), files that cannot be understood (corrupt) or read
// (unreadable), and a lease taken back by the one it was taken from (reclaimed).
//
// A release does not hand the key over, since the next in line may have died in this moment: it wakes the next, who
// takes the key itself. Who is woken learns it by a file-system notification; beneath that, everybody looks once per
// poll interval. A waiter also watches the process ahead of it, where the system can do that, and steps up when it dies.
//
// # Goroutines
//
// Operations run on their callers' goroutines. Beside them there are, while somebody waits, the watcher's and one for
// the process ahead; for a guard that is not free, one that waits in the kernel; and one that now and then puts the history
// into its database. [Store.Close] waits for the last.
//
// # Promises
//
//   - Reading (Status, List, Check, Wait, History) takes no lock, creates nothing and never blocks on a writer.
//   - A process that dies at any point leaves a state that the next one handles; see docs/directory.md.
//   - Among living waiters the first to come is the first to get the key. One that is known to be dead is passed over
//     at once; one that is stopped, after five minutes; one that cannot be asked about, after 30 seconds of silence.
//   - A clock that is set does not lengthen or shorten a lease: its end is kept by the clock that counts from
//     the boot, and by the wall clock only across boots and machines.
//   - History is written when the guard is free again. Where that fails, a warning says so, and nothing else happens.
//
// # What callers may not assume
//
// That the lock keeps anybody out who does not ask for it, or that an expired lease's work has stopped. Several
// machines on one shared directory are beyond what is promised: not every network file system keeps flock's word.
//
// # Testing
//
// Every file operation under the guard has a label and passes a hook: a test makes exactly that one fail, or dies in
// it. Processes are real ones: the test binary starts itself.
package dirstore
