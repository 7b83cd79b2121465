// Package supervise runs a command under a lease: it keeps the lease alive while the command runs, ends the
// command's whole process tree when the lease is lost, passes signals and the terminal on, and gives the lease back
// when the command is gone. Both front doors use it; how a lease is acquired, which exit code a loss has and what
// the flags are called is theirs.
//
// # What it owns
//
// [Run] is one loop on the caller's goroutine, and all of a run's state belongs to it. Beside it there are: the keeper,
// the lease's only renewer, which owns the timetable (plan, a pure type) and reports each change; one goroutine for
// the renewal or release that is under way; a thread that started the command and lives as long, because the
// kernel's parent-death signal is tied to it; and a writer each for words and events, so that a terminal or a pipe that
// does not take them never holds up the watch over the lease. The guard is another process, see [WatcherMain].
//
// [Signals] come first: they stand before a lease is acquired, end the wait for one, and are handed to Run.
//
// # Promises
//
//   - A lease counts as lost when the service says so, or when nothing was confirmed until a margin before the
//     deadline; the deadline counts from when the last confirmed request was sent, on a clock that goes on while the
//     machine sleeps. A process that was stopped past it knows before it asks anyone.
//   - On loss the tree is told to end at the margin and killed just before the deadline at the latest.
//   - The lease is released only when the command and, where they must end, its processes are gone, and never while
//     a renewal is out.
//   - A process id is signalled only while it cannot be another's: the command's group while the command is not
//     reaped, others by a handle that is checked against their start time.
//   - Standard input, output and error are the caller's own files. Who holds them open does not delay the return.
//
// # What callers may not assume
//
// Run takes signal handlers, the subreaper attribute, the children and the terminal of this process into its service:
// one Run at a time, and nothing else in the process may start or reap children meanwhile. The main of a program must
// call [WatcherMain] first; without it nothing but the command itself dies with a killed supervisor.
// On macOS the tree is the command's process group; on Windows it is a job object, and there is no asking to end.
//
// # Testing
//
// The timetable is tested by tables, the keeper in a synctest bubble, and all that has to do with processes with real
// ones: the test binary starts itself as a supervisor, with a lease whose service is a directory.
package supervise
