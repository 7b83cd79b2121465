package main

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestASignalEndsAReadThatNobodyAnswers: whoever types "release t -" and has nothing to paste must get out again.
func TestASignalEndsAReadThatNobodyAnswers(t *testing.T) {
	for args, code := range map[string]int{
		"renew t -": 128 + 15, "release t --lease-file -": 128 + 15, "check t -": 128 + 15,
		"status t --token-file -": -15, // before there are handlers
	} {
		read, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer write.Close()
		defer read.Close()
		if _, err := write.WriteString("x"); err != nil {
			t.Fatal(err)
		}
		cmd := mutex(t, []string{"MUTEX_URL=http://127.0.0.1:1"}, strings.Fields(args)...)
		cmd.Stdin = read
		end := begin(t, cmd)
		eventually(t, args+" reads", func() bool {
			n, err := unix.IoctlGetInt(int(read.Fd()), unix.TIOCINQ)
			return err == nil && n == 0
		})
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if r := end(); r.code != code {
			t.Errorf("%s: exit %d, want %d; said %q", args, r.code, code, r.err)
		}
	}
}
