package journal_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"legible.sh/mutex/internal/lease"
)

// inOwnMounts is set in the process that may mount what it likes.
const inOwnMounts = "JOURNAL_TEST_TMPFS"

// A real file system that fills up, a tmpfs of 8 MiB: grants are refused first, renewing for an hour and releasing go
// on, and all is well again when there is room. The test runs in a process of its own with mounts of its own, so that
// nothing stays mounted; that takes root, or a kernel that lets users have namespaces.
func TestFullTmpfs(t *testing.T) {
	if mount := os.Getenv(inOwnMounts); mount != "" {
		if err := syscall.Mount("none", mount, "tmpfs", 0, "size=8m,mode=0700"); err != nil {
			t.Fatalf("mount a tmpfs: %v", err)
		}
		fullTmpfs(t, mount)
		return
	}
	self := exec.Command("/proc/self/exe", "-test.run=^TestFullTmpfs$", "-test.v")
	self.Env = append(os.Environ(), inOwnMounts+"="+t.TempDir())
	self.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	if os.Getuid() != 0 {
		self.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		self.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		self.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	out, err := self.CombinedOutput()
	if err != nil {
		t.Fatalf("in a process with mounts of its own (run it as root, or allow user namespaces): %v\n%s", err, out)
	}
}

func fullTmpfs(t *testing.T, mount string) {
	w := newWorld(t)
	w.options.CompactAt = 1 << 40
	w.real(filepath.Join(mount, "data"))
	held := w.fillUp()
	t.Logf("%d leases before grants were suspended", len(held))
	if len(held) < 50 {
		t.Errorf("only %d leases on 8 MiB", len(held))
	}
	filler := filepath.Join(mount, "filler")
	fillTmpfs(t, filler)
	w.anHour(held)
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	eventually(t, "grants go on", func() bool { return !w.file.Suspended() })
	w.topic("again").acquire(1)
	w.close()
	w.real(filepath.Join(mount, "data"))
	if len(w.boot.Topics) != len(held)+1 {
		t.Errorf("%d topics after a restart, want %d", len(w.boot.Topics), len(held)+1)
	}
	w.runDry(filler)
	w.close()
}

// runDry takes even the room that is set aside, and more: what cannot be stored is refused, and it all comes back.
func (w *world) runDry(filler string) {
	fillTmpfs(w.t, filler)
	p := w.topic("again")
	p.must(lease.Command{Op: lease.Renew, Token: token(1), TTL: time.Hour})
	var refused error
	for n := 0; refused == nil && n < 200_000; n++ {
		_, refused = p.do(lease.Command{Op: lease.Renew, Token: token(1)})
	}
	wantStorage(w.t, refused)
	if err := os.Remove(filler); err != nil {
		w.t.Fatal(err)
	}
	eventually(w.t, "it comes back", func() bool { return w.file.Healthy() == nil })
	p.must(lease.Command{Op: lease.Release, Token: token(1)})
}

// fillTmpfs takes all the space there is.
func fillTmpfs(t testing.TB, name string) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, size := range []int{64 << 10, 4 << 10} {
		for {
			_, err := fmt.Fprint(f, string(make([]byte, size)))
			if errors.Is(err, syscall.ENOSPC) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}
