// Package disktest is a disk that exists only in memory, for tests of what a journal does when the real one fails: it
// keeps apart what is in the page cache and what is safe, can fail exactly one call, fill up, and lose its power.
//
// [Disk.Fail] is asked before every call, with its label. [Disk.Crash] gives the disk as it may be found after a power
// cut: what was synced is there; each sector of 512 bytes that was written since may be there, as it was made by any of
// the writes, or still be what it was before; the size may have grown or not, and a rename may have happened or not.
// [Disk.Cut] gives one such disk by choice. A sync that fails leaves its pages clean and lost, as Linux does: they read
// back fine until the crash.
//
// A Disk may be used from several goroutines.
package disktest
