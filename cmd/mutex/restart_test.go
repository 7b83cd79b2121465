package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
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

// TestRacingRunsLoseNothing: each run reads a number and writes the next, while the server crashes in between. A write
// that was lost would show.
func TestRacingRunsLoseNothing(t *testing.T) {
	const processes, rounds = 6, 6
	s := startServer(t, "--data-dir", t.TempDir())
	file := filepath.Join(t.TempDir(), "n")
	write(t, file, "0", 0o600)
	step := `n=$(cat ` + file + `); echo $((n + 1)) > ` + file
	var all sync.WaitGroup
	failed := make(chan string, processes*rounds)
	for range processes {
		all.Go(func() {
			for range rounds {
				if r := run(t, mutex(t, s.vars(), "run", "t", "--wait", "55", "--ttl", "20", "--", "sh", "-c", step)); r.code != 0 {
					failed <- fmt.Sprintf("exit %d: %s", r.code, r.err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	for range 3 {
		before := number(t, file)
		eventually(t, "the number rises", func() bool { n := number(t, file); return n > before || n == processes*rounds })
		s.crash()
	}
	<-done
	close(failed)
	for text := range failed {
		t.Error(text)
	}
	if n := number(t, file); n != processes*rounds {
		t.Errorf("%d of %d steps are there", n, processes*rounds)
	}
}

// number reads a file that may just be being written.
func number(t *testing.T, file string) int {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	n, _ := strconv.Atoi(strings.TrimSpace(string(b)))
	return n
}
