// Package disk is every call that the journal makes to the file system, each under a label.
//
// The journal's promises are about what is on disk when which call fails or never comes back, so none of its calls
// may hide: all go through [FS] and [File], and say with an [Op] which of them they are. [OS] carries them out. The
// package disktest has a second implementation, a simulated disk that can fail exactly one of them, and that
// forgets what was not synced when the machine dies.
//
// The calls mean what POSIX promises and no more. A write is in the page cache until [File.Sync] has returned; a
// rename is in memory until [FS.SyncDir] has; after a failed sync nothing that was not safe before can be trusted,
// even if it reads back.
package disk
