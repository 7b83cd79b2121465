// Package remote is a [locker.Locker] over HTTP: the public client put into the words of the commands. It owns no
// state but the client's connections, and no goroutine but those that the client starts for a call.
//
// It promises what [locker.Locker] asks for. Callers may not assume that a call which failed with
// [locker.ErrUnreachable] was not carried out.
//
// Test it against a server made by net/http/httptest.
package remote
