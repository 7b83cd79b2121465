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
// Each with the test that fails when it is broken.
//
//   - Never more holders than the capacity; a fence rises by one with every grant and never repeats; a slot is the
//     lowest free number, and held by one at a time. (TestModel)
//   - First in, first out among the waiters that are present; one who is away is passed over and keeps its place.
//     Nobody is granted twice, after having left, or after its own deadline. (TestModel)
//   - Due at the same moment: waiters whose own deadline has come leave first, then leases end, then permits
//     are granted; of the same kind, who came earlier goes first. So a tie has one answer. (testdata/ties.script)
//   - A command that is refused changes nothing but what was due anyway; the one exception is meant, an acquire
//     that may not wait refreshes the place that its key keeps. (TestRefusalsChangeNothing)
//   - The events alone make the same state again, and the durable ones make all of it that was promised: leases,
//     fence, capacity, places and spent keys. (TestModel)
//   - No event can break a state, whatever a damaged journal holds: it stays whole, settling ends, and the next grant
//     waits until there is room. (FuzzDamaged, testdata/damaged.script)
//   - No operation walks all waiters or all holders, except those whose answer lists them and [Force], an
//     operator's rare act. What a crowd took is given back when it is gone. (BenchmarkCycle, BenchmarkLeaving,
//     TestCrowdLeavesNothing)
//   - Granting, queueing, handing over and ending allocate nothing once slices and maps have grown. (TestAllocations)
//   - A [Token] is shown by [Token.Reveal] alone, and by no verb, encoder or logger. (TestTokenHides)
//
// # What callers may not assume
//
// A State is not safe for concurrent use. Times given to it must not go back: use readings of one monotonic
// clock ([time.Now] keeps one), and [Event.Rebase] for times that come from a file. A [Token] must be random and new
// with every acquire; nothing here checks that. Who an event names may be a stranger's text: see [CleanText].
//
// To test a rule, write a golden script (testdata/*.script: commands in, events out; -update writes the output). The
// model test checks random histories against a naive second implementation; -steps=1000000 makes it a million
// steps long. FuzzCommands and FuzzDamaged do the same with bytes that a fuzzer chose; run them
// with -fuzzminimizetime=1x, or the fuzzer spends its time on making long histories shorter.
package lease
