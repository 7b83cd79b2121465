// Package httpserver makes the generated interface real: it turns HTTP requests into commands on topics and what
// comes back into answers.
//
// It owns no state but its settings and starts no goroutine of its own: everything here runs on the goroutine of
// net/http that serves the connection, and only that goroutine writes to its ResponseWriter.
//
// # How a request flows
//
// [Server.ServeHTTP] (front.go) refuses what must not get further: paths that a mux would redirect, foreign hosts,
// cross-origin writes. The mux finds the operation, the generated binder (package api) takes its parameters apart, and
// a method of this package with the operation's name parses them into the types of internal/lease, asks internal/policy,
// calls the registry and writes the answer. Every error, whoever makes it, goes through [Server.fail] and one table.
//
// # What it promises
//
//   - Every answer of 4xx or 5xx is JSON with error, code and hint; inner errors are logged, never shown. Only a
//     browser that asks for the dashboard gets a form to sign in with instead, under the same status.
//   - A lease is in no answer but its owner's and in no log line.
//   - A grant that could not be delivered is taken back if nobody could ask for it again.
package httpserver
