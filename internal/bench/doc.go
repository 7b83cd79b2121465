// Package bench is the load generator behind mutex bench: it measures a server from outside, over HTTP, and holds it
// to its promises while it does.
//
// [Run] runs scenarios. Each is measured in rounds, and where a floor is asked for, the rounds alternate between the
// floor and the server, so that a machine that gets slower or faster in between does so for both. The floor is a bare
// net/http handler that answers the same methods with the very bodies that the server gave, in a process of its own,
// under the same client. What is reported is the median of the rounds, and for a ratio the median of the ratios.
//
// The client shares the machine with the server, so it is lean: HTTP/1.1 by hand over plain connections, requests
// made once, answers read into one buffer, a histogram for each connection. A wrong answer ends the run with an error
// that quotes it. So does a broken promise (two holders at once, a fence that does not rise, a waiter passed over): see
// [ViolationError].
//
// Goroutines: one for each connection that waits for an answer, and one that waits for each child process; all end
// before Run returns. Servers that Run started are stopped by it, and on Linux they end with this process even when it
// is killed.
//
// Callers may not assume that two runs compare: only the figures of one run do. CPU and memory of a server are read
// from /proc, so they are there only on Linux, and only where the server's pid is known.
//
// To test it, give [Run] the URL of a server that misbehaves on purpose and see that it is caught.
package bench
