// Package registry finds the actor of a topic: it spawns actors, lends references to them, caps their number, reaps
// those that nothing lives in, and restores them at boot.
//
// It owns the map of live topics and one number, the fence floor, under one mutex. Its only goroutine is the reaper,
// [Registry.Run].
//
// # Why nobody can hold a dead actor
//
// A caller takes a reference under the lock and gives it back when its request has ended. Only a topic without
// references, leases, places, remembered keys or watchers (each of which holds a reference) is reaped, in that same
// critical section. So there is no retry loop: an actor that was found is alive until it is given back.
//
// # Why a fence never repeats
//
// With a topic that is reaped its fence would start over. So the floor is raised to the fence of every topic that is
// reaped, and handed to the journal in the same critical section; a topic made anew starts above it. One integer
// suffices, for every name ever used.
package registry
