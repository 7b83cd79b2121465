// Package lease holds the rules of one topic: who may hold it, who is next, when a lease is over.
//
// It owns no goroutine and starts none. A [State] belongs to exactly one caller at a time: a topic's actor
// in the server, the process that holds a key's guard in a directory. There is no clock, no timer, no random
// source and no I/O in here: the time is an argument, read once per turn by the caller, and a lease's token is
// made by whoever asks for it. That is why every rule can be tested without a goroutine or a wait.
//
// # How a command runs
//
// [State.Step] settles what is due, decides the command, applies what was decided, and settles again, so that
// a permit that has just come free is granted in the same turn. Everything that changes the state is an [Event]
// and goes through [State.Apply], live and on replay alike. Events come out in the order in which they took
// effect; what is [Event.Durable] must be safe on disk before any answer that rests on it is given.
//
// # Promises
//
//   - Never more holders than the capacity; a fence rises with every grant and never repeats.
//   - First in, first out among the waiters that are present; one who is away is passed over and keeps its place.
//   - Due at the same moment: waiters whose own deadline has come leave first, then leases end, then permits
//     are granted. So a tie has one answer, and nobody is granted after its own deadline.
//   - A command that is refused changes nothing but what was due anyway.
//   - No operation walks all waiters or all holders, except those whose answer lists them.
//
// # What callers may not assume
//
// A State is not safe for concurrent use. Times given to it must not go back: use readings of one monotonic
// clock ([time.Now] keeps one), and [Event.Rebase] for times that come from a file.
//
// To test a rule, write a golden script (testdata/*.script: commands in, events out); the model test checks
// random histories against a naive second implementation.
package lease
