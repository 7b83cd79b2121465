// Package secrettest has no code, only the test that a secret stays with its owner.
//
// It owns the proof for the whole of what we build: it plants marked tokens and keys, has leases granted, sends the built
// server and both commands everything they know, right and wrong, and then looks for what it planted in all that anybody
// but the owner could read: answers, streams, pages, logs at debug level in both formats, exported spans, what the
// commands said, the list of processes, and the files on disk.
//
// What may have it, and is left out: a lease stands in its owner's own answers, in the journal, and in the environment
// of a command that "mutex run" started with it.
package secrettest
