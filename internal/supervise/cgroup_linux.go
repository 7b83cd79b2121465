package supervise

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// cgroup is a control group (version 2) made for one command. Nothing leaves it by forking, changing its session
// or clearing its environment, and the kernel kills all of it at once. It is used where it may be made without
// asking anybody; everything works without it, but for what docs/run.md says.
type cgroup struct {
	path string
	fd   int
}

// newCgroup makes a control group below this process's own, or gives nil where that is not ours to do.
func newCgroup(name string) *cgroup {
	parent, ok := ownCgroup()
	if !ok || !delegated(parent) {
		return nil
	}
	path := filepath.Join(parent, name)
	if err := os.Mkdir(path, 0o755); err != nil {
		return nil
	}
	fd, err := unix.Open(path, unix.O_DIRECTORY|unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		_ = os.Remove(path)
		return nil
	}
	return &cgroup{path: path, fd: fd}
}

// ownCgroup gives the directory of the version 2 group that this process is in.
func ownCgroup() (string, bool) {
	var buffer [4096]byte
	lines, err := readSmall("/proc/self/cgroup", buffer[:])
	if err != nil {
		return "", false
	}
	for line := range strings.Lines(string(lines)) {
		if path, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "0::"); ok {
			for _, mount := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} {
				if isCgroup2(mount) {
					return filepath.Join(mount, path), true
				}
			}
		}
	}
	return "", false
}

func isCgroup2(path string) bool {
	var fs unix.Statfs_t
	return unix.Statfs(path, &fs) == nil && fs.Type == unix.CGROUP2_SUPER_MAGIC
}

// delegated reports whether groups below path are ours to make. Root could make them anywhere, but where
// systemd runs the tree is its own, except below what it marked as delegated.
func delegated(path string) bool {
	if os.Geteuid() != 0 {
		var file unix.Stat_t
		return unix.Stat(path, &file) == nil && int(file.Uid) == os.Geteuid()
	}
	if _, err := os.Stat("/run/systemd/system"); err != nil {
		return true
	}
	var value [8]byte
	n, err := unix.Getxattr(path, "trusted.delegate", value[:])
	return err == nil && n > 0 && value[0] == '1'
}

// place makes the command start inside the group.
func (c *cgroup) place(attr *syscall.SysProcAttr) {
	if c != nil {
		attr.UseCgroupFD, attr.CgroupFD = true, c.fd
	}
}

// pids lists the processes in the group, as this process's PID namespace numbers them.
func (c *cgroup) pids() []int {
	if c == nil {
		return nil
	}
	content, err := os.ReadFile(filepath.Join(c.path, "cgroup.procs"))
	if err != nil {
		return nil
	}
	var pids []int
	for _, field := range bytes.Fields(content) {
		if pid := number(field); pid > 0 {
			pids = append(pids, pid)
		}
	}
	return pids
}

// kill ends everything in the group at once. Kernels before 5.14 cannot; there the walk over the tree does it.
func (c *cgroup) kill() {
	if c != nil {
		_ = os.WriteFile(filepath.Join(c.path, "cgroup.kill"), []byte("1"), 0)
	}
}

// remove takes the group away. What still runs in it goes back to the group that this process is in.
func (c *cgroup) remove() {
	if c == nil {
		return
	}
	_ = unix.Close(c.fd)
	for range 3 { // a process that forks while it is moved leaves a child behind
		if err := os.Remove(c.path); err == nil {
			return
		}
		for _, pid := range c.pids() {
			parent := filepath.Join(filepath.Dir(c.path), "cgroup.procs")
			_ = os.WriteFile(parent, []byte(strconv.Itoa(pid)), 0)
		}
	}
}

// directory is where the group is, or "" without one.
func (c *cgroup) directory() string {
	if c == nil {
		return ""
	}
	return c.path
}
