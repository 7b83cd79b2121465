package supervise

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// stat is what /proc says of a process. A pid together with its start time is an identity as long as the machine
// runs; a pid alone is not.
type stat struct {
	pid, ppid, group, session int
	name                      string
	zombie                    bool
	start                     uint64 // ticks since boot
}

func (s stat) process() Process { return Process{PID: s.pid, Name: s.name} }

// processes lists every process that /proc shows. It is a snapshot that is already old: callers look again until
// they find nothing.
func processes() []stat {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil
	}
	var all []stat
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if s, ok := readStat(pid); ok {
				all = append(all, s)
			}
		}
	}
	return all
}

func readStat(pid int) (stat, bool) {
	var buffer [512]byte
	line, err := readSmall("/proc/"+strconv.Itoa(pid)+"/stat", buffer[:])
	if err != nil {
		return stat{}, false
	}
	return parseStat(pid, line)
}

// parseStat takes a line of /proc/PID/stat apart. The name stands in parentheses and may itself hold any byte,
// so the last closing one ends it.
func parseStat(pid int, line []byte) (stat, bool) {
	open, end := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if open < 0 || end < open {
		return stat{}, false
	}
	fields := bytes.Fields(line[end+1:])
	if len(fields) < 20 {
		return stat{}, false
	}
	state := fields[0][0]
	return stat{
		pid: pid, name: string(line[open+1 : end]),
		zombie: state == 'X' || state == 'Z' && number(fields[17]) < 2, // its main thread may end before the others
		ppid:   number(fields[1]), group: number(fields[2]), session: number(fields[3]),
		start: uint64(number(fields[19])),
	}, true
}

func number(field []byte) int {
	n, _ := strconv.Atoi(string(field)) // the kernel writes numbers here
	return n
}

// readSmall reads a file of /proc in one read, without the poller that os.File would bring.
func readSmall(path string, buffer []byte) ([]byte, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	n, err := unix.Read(fd, buffer)
	if err != nil {
		return nil, err
	}
	return buffer[:n], nil
}

// procIsOurs reports whether /proc numbers processes as this process sees them. After an unshare of the PID
// namespace without a new /proc it does not, and a walk through it would find strangers.
func procIsOurs() bool {
	self, err := os.Readlink("/proc/self")
	return err == nil && self == strconv.Itoa(os.Getpid())
}

// send signals the process that s describes, and never another that has got its number since.
func (s stat) send(sig unix.Signal) {
	fd, err := unix.PidfdOpen(s.pid, 0)
	if err != nil {
		if err == unix.ENOSYS {
			_ = unix.Kill(s.pid, sig)
		}
		return
	}
	defer unix.Close(fd)
	if again, ok := readStat(s.pid); ok && again.start == s.start {
		_ = unix.PidfdSendSignal(fd, sig, nil, 0) // it may have ended: then there is nothing to do
	}
}
