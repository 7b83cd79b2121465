package journal

// Queued is how many appends wait for the committer.
func Queued(f *File) int {
	f.queue.mu.Lock()
	defer f.queue.mu.Unlock()
	return len(f.queue.waiting)
}
