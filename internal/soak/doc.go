// Package soak has no code, only the tests that treat the built server as the world does: they run it as a process,
// kill it at random moments under load, tear its journal as a crash might, and hold what it answers afterwards against
// what it had promised; and they watch its system calls, to prove that no answer leaves before its record is synced.
//
// The short form is part of every test run. The long one:
//
//	go test ./internal/soak -run Kill -soak.kills 200 -timeout 60m -v
//
// A failure prints the seed that repeats its choices; the moments of the kills are the machine's own.
package soak
