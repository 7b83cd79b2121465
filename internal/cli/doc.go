// Package cli is the commands of both front doors, one file each: mutex, which speaks to a server, and agentmutex,
// which works on a directory. What differs between the two stands in one struct, [Flavour], that each main fills in;
// which lock service answers is hidden behind [locker.Locker].
//
// It promises: results go to stdout and words to stderr; a failed acquire prints nothing on stdout; text that came
// from others (names, reasons, errors of a server) is escaped before it reaches a terminal; a lease appears only in
// the grant that acquire prints to its owner, and in the environment that run makes; every error has the exit code
// that [Flavour.Codes] says, and names what to do.
//
// A command runs on the goroutine that called [Main] and ends with it; signals are caught from its start, so that
// one who queues leaves the queue. [Main] reads the process's environment and arguments; nothing else here does.
//
// Test it through [Main], with streams of your own and a locker made for the test.
package cli
