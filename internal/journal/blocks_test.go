package journal_test

import (
	"os"
	"syscall"
	"testing"
)

// blocks is how many bytes a file takes on the disk.
func blocks(t *testing.T, name string) int64 {
	t.Helper()
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	return info.Sys().(*syscall.Stat_t).Blocks * 512
}
