//go:build unix

package journal_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"legible.sh/mutex/internal/journal"
)

// A server that runs has room set aside; one that has ended has given it back.
func TestClosedRoomIsGivenBack(t *testing.T) {
	data := t.TempDir()
	f, _, err := journal.Open(data, realOptions())
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Stats().Reserved; got < 1<<20 {
		t.Errorf("%d bytes are set aside, want at least a MiB", got)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if got := blocks(t, filepath.Join(data, "mutex.jsonl")); got > 64<<10 {
		t.Errorf("the closed file takes %d bytes", got)
	}
}

// blocks is how many bytes a file takes on the disk.
func blocks(t *testing.T, name string) int64 {
	t.Helper()
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	return info.Sys().(*syscall.Stat_t).Blocks * 512
}
