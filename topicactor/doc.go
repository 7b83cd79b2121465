// Package topicactor runs topics: one topic is one goroutine that owns its holders, its waiters and its fence.
//
// The state is a local variable of the goroutine's loop; nobody else ever sees it. Others send a request through
// the mailbox and wait for its answer. A turn of the loop takes what waits in the mailbox, up to a bound, reads the
// clock once, runs each request through the rules of [lease.State], hands all their events to the journal in one
// append, and only when that has returned lets the answers and the watchers' frames out.
//
// # Concurrency promises
//
//   - All methods of [Actor] may be called from any goroutine.
//   - Nothing leaves an actor before what it rests on is safe, reads behind it in the same turn included. A failed
//     append leaves nothing of itself in what anyone is shown: the state is dropped, everybody who waits is told
//     [lease.ErrStorage] (or [lease.ErrSuspended], where the journal had no room for a grant), and the state is built anew
//     from what the journal last acknowledged.
//   - When [Actor.Do] returns, what it asked for is decided for good, whether the context ended or not. All that may still
//     come is a word that nobody waits, which changes nothing any more. That is what lets the registry reap an actor that
//     nobody has a reference to.
//   - A watcher never slows a topic: one that falls behind is cut off, and told so.
//
// # What callers may not assume
//
// [Actor.Idle], [Actor.Pristine] and [Actor.Fence] are stable only while nobody can send: under the registry's lock,
// without references. A [Frame] is shared by all watchers and must not be changed.
//
// To test: inside a testing/synctest bubble, with actors, contexts and channels made there, stopped in a defer.
package topicactor
