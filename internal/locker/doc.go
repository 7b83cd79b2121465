// Package locker says what a command needs of a lock service: [Locker], the words it speaks in, and the errors
// by which a command chooses its exit code. It owns no state and starts no goroutine.
//
// There are two implementations, a server over HTTP and a directory, and the commands know neither. What an
// implementation promises:
//
//   - a method returns soon after its context ends, with an error that wraps the context's;
//   - an error of this package is found in what it returns with [errors.Is] or [errors.As]; every other error is
//     "something went wrong", with a text that says what to do about it;
//   - an [Locker.Acquire] that returns an error leaves no lease and no place in the queue behind, as far as can
//     be known: if the service cannot be reached to give up, what is left ends by its ttl;
//   - text from strangers (names, reasons, hosts) is handed on as it came: whoever shows it escapes it;
//   - a method may be called from several goroutines.
//
// Callers may not assume that a clock here and the service's agree: Expires is for showing. Whoever works under a
// lease counts its ttl from before the call that granted or renewed it.
package locker
