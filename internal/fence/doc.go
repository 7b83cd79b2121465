// Package fence keeps the highest fence that a resource was written under, for resources that cannot compare one
// themselves.
//
// A [File] is such a number in a file, with a lock beside it. Whoever has it open has the lock: the check, the keeping
// and whatever is done before Close are one step to everybody else who goes through the same file. An [Object] is the
// number behind a URL, for several machines, changed by conditional requests.
//
// # What it promises
//
//   - A fence lower than one that was admitted is never admitted: not after a crash, not after a power cut.
//   - A number is kept before the caller acts on it, and stays kept if the act fails: half a write may have been done
//     under it, and a lower fence must not write over that.
//   - What cannot be read as a number admits nobody. Nothing is guessed.
//
// # What callers may not assume
//
// A fence only binds those who ask. A write that goes around it is not stopped, and with an [Object] the write itself
// comes after the check, so that another may come in between: where the resource can compare, let the resource do it.
// Network file systems may not lock.
//
// Nothing here starts a goroutine. Test it with directories and servers of your own; two Files on one path in one
// process keep each other out as two processes do.
package fence
