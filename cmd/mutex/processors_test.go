package main

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
)

// TestTheServerHasAThreadMoreThanProcessors, unless somebody chose how many.
func TestTheServerHasAThreadMoreThanProcessors(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	runtime.SetDefaultGOMAXPROCS() // what a process begins with here
	usual, processors := runtime.GOMAXPROCS(before), runtime.NumCPU()
	if usual == processors && usual > 1 {
		usual++
	}
	s := startServer(t)
	s.wantsThreads(usual)
	for _, chosen := range []int{1, processors} {
		s.stop()
		s.env = append(s.env, fmt.Sprintf("GOMAXPROCS=%d", chosen))
		s.start()
		s.wantsThreads(chosen)
	}
}

// wantsThreads looks in the figures that the server gives of itself.
func (s *server) wantsThreads(n int) {
	s.t.Helper()
	r, err := http.NewRequest("GET", s.url+"/-/metrics", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+adminToken)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer answer.Body.Close()
	figures, err := io.ReadAll(answer.Body)
	if want := fmt.Sprintf("\ngo_sched_gomaxprocs_threads %d\n", n); err != nil || !strings.Contains(string(figures), want) {
		s.t.Errorf("%v, and %q is not in\n%s", err, want, figures)
	}
}
