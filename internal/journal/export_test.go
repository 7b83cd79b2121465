package journal

// Queued is how many appends wait for the committer.
func Queued(f *File) int {
	f.queue.mu.Lock()
	defer f.queue.mu.Unlock()
	return len(f.queue.waiting)
}

// Known is how many topics the journal knows anything of.
func Known(f *File) (n int) {
	f.shared.with(func(f *fold) { n = len(f.topics) })
	return n
}
