package main

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// crash kills the server and starts it again, on the same address and data.
func (s *server) crash() {
	s.t.Helper()
	if err := s.cmd.Process.Kill(); err != nil {
		s.t.Fatal(err)
	}
	_ = s.cmd.Wait()
	s.start()
}

// TestACrashCostsNothing: a run that holds goes on, who waits keeps the place, and both hear only that it took longer.
func TestACrashCostsNothing(t *testing.T) {
	s := startServer(t, "--data-dir", t.TempDir())
	dir := t.TempDir()
	hold := begin(t, mutex(t, s.vars(), "run", "t", "--ttl", "10", "--", "sh", "-c",
		"touch "+dir+"/up; until [ -e "+dir+"/go ]; do sleep 0.05; done; exit 7"))
	eventually(t, "the command runs", func() bool { _, err := os.Stat(dir + "/up"); return err == nil })
	next := begin(t, mutex(t, s.vars(), "acquire", "t", "--wait", "50"))
	eventually(t, "the next one queues", func() bool { _, n := s.status("t"); return n == 1 })
	for range 3 {
		s.crash()
		eventually(t, "both are back", func() bool { state, n := s.status("t"); return state == "held" && n == 1 })
	}
	write(t, dir+"/go", "", 0o600)
	hold().wants(t, 7)
	if r := next().wants(t, 0); field(t, r.out, "fence") != "2" {
		t.Error(r.out)
	}
}

// racers are processes that read the last number of a file and write the next one, each under a lease of its own, round
// after round. An update that was lost would write a number for the second time.
type racers struct {
	t       *testing.T
	s       *server
	file    string
	holder  string   // a file in which the command writes its supervisor's pid before it reads
	running sync.Map // by pid: the supervisors that run, as *exec.Cmd
	ended   atomic.Int64
	done    atomic.Int64 // ended well
	cut     atomic.Int64 // killed, or lost the lease: they may have written or not
}

func (r *racers) race(rounds int) {
	step := `echo $PPID > ` + r.holder + `
		n=$(tail -n 1 ` + r.file + `); sleep 0.002; echo $((n + 1)) >> ` + r.file
	for range rounds {
		cmd := mutex(r.t, r.s.vars(), "run", "t", "--wait", "55", "--ttl", "1.5", "--", "sh", "-c", step)
		end := begin(r.t, cmd)
		r.running.Store(cmd.Process.Pid, cmd)
		result := end()
		r.running.Delete(cmd.Process.Pid)
		r.ended.Add(1)
		switch result.code {
		case 0:
			r.done.Add(1)
		case 75, -int(syscall.SIGKILL):
			r.cut.Add(1)
		default:
			r.t.Errorf("exit %d: %s", result.code, result.err)
		}
	}
}

// killHolder kills the supervisor whose command was the last to start.
func (r *racers) killHolder() {
	if cmd, ok := r.running.Load(number(r.t, r.holder)); ok {
		_ = cmd.(*exec.Cmd).Process.Kill()
	}
}

// killAny kills some supervisor, most likely one that waits.
func (r *racers) killAny() {
	r.running.Range(func(_, cmd any) bool {
		_ = cmd.(*exec.Cmd).Process.Kill()
		return false
	})
}

// check reads the numbers: each must be there once, in order, and at least one for each run that ended well.
func (r *racers) check(runs int64) {
	r.t.Helper()
	numbers := strings.Fields(readFile(r.t, r.file))
	for i, text := range numbers {
		if text != strconv.Itoa(i) {
			r.t.Fatalf("line %d is %s, so an update was lost", i, text)
		}
	}
	written, done, cut := int64(len(numbers)-1), r.done.Load(), r.cut.Load()
	if done+cut != runs || written < done || written > done+cut {
		r.t.Errorf("%d runs, %d ended well, %d were cut off, %d numbers were written", runs, done, cut, written)
	}
	r.t.Logf("%d runs, %d were cut off, %d numbers were written", runs, cut, written)
}

// TestRacingRunsLoseNothing: sixteen processes, fifty updates each, while the server is killed and started again, and so
// are runs, those that hold the lease and those that wait.
func TestRacingRunsLoseNothing(t *testing.T) {
	processes, rounds, crashes := 16, 50, 5
	if testing.Short() {
		processes, rounds, crashes = 4, 8, 2
	}
	dir := t.TempDir()
	r := &racers{t: t, s: startServer(t, "--data-dir", t.TempDir()), file: dir + "/n", holder: dir + "/holder"}
	write(t, r.file, "0\n", 0o600)
	write(t, r.holder, "", 0o600)
	var all sync.WaitGroup
	for range processes {
		all.Go(func() { r.race(rounds) })
	}
	runs := int64(processes * rounds)
	for i := range crashes { // spread over the race by how far it has come
		for r.ended.Load() < runs*int64(i+1)/int64(crashes+1) { // every run ends, within a minute at most
			time.Sleep(10 * time.Millisecond)
		}
		r.killHolder()
		r.killAny()
		r.s.crash()
	}
	all.Wait()
	r.check(runs)
	if r.cut.Load() == 0 {
		t.Error("no run was killed")
	}
	eventually(t, "nobody holds or waits", func() bool { state, n := r.s.status("t"); return state == "free" && n == 0 })
}

// number reads a file that holds one, or is empty.
func number(t *testing.T, file string) int {
	t.Helper()
	n, _ := strconv.Atoi(strings.TrimSpace(readFile(t, file)))
	return n
}
