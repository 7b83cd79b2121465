package bench_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"legible.sh/mutex/internal/bench"
)

// TestMain is also the servers that bench starts: this binary with another first argument.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		if play, ok := parts[os.Args[1]]; ok {
			play(os.Args[2:])
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

var parts = map[string]func(args []string){
	"play-floor": func([]string) {
		if err := bench.ServeFloor(context.Background(), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	},
	"play-server": playServer,
	"play-dead":   func([]string) { fmt.Fprintln(os.Stderr, "no room on this machine"); os.Exit(1) },
}

func program(t *testing.T, part string) []string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{exe, part}
}

// quick are options for a run of moments: what is tested is the harness, not a server.
func quick(url string, scenarios ...string) bench.Options {
	o := bench.Defaults()
	o.URL, o.Scenarios = url, scenarios
	o.AdminToken, o.PID = "sesame", os.Getpid()
	o.Connections = []int{4}
	o.Duration, o.Warmup, o.Settle, o.Rounds = 50*time.Millisecond, 0, 10*time.Millisecond, 1
	o.Waiters, o.Topics, o.Watchers, o.Rate, o.Live, o.Names = 20, 3, 5, 200, 30, 40
	o.JSON = true
	return o
}

// measure runs and gives the reports.
func measure(t *testing.T, o bench.Options) []bench.Report {
	t.Helper()
	var out bytes.Buffer
	if err := bench.Run(t.Context(), o, &out); err != nil {
		t.Fatal(err)
	}
	var all []bench.Report
	for dec := json.NewDecoder(&out); dec.More(); {
		var r bench.Report
		if err := dec.Decode(&r); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

// measureSome measures one scenario for longer and longer, until this figure is more than 0: a busy machine may do
// nothing at all for a while.
func measureSome(t *testing.T, o bench.Options, name string) bench.Report {
	t.Helper()
	for ; o.Duration < time.Minute; o.Duration *= 4 {
		if r := measure(t, o)[0]; figure(t, r, name).Value > 0 {
			return r
		}
	}
	t.Fatalf("%v: never any %s", o.Scenarios, name)
	return bench.Report{}
}

func figure(t *testing.T, r bench.Report, name string) bench.Figure {
	t.Helper()
	i := slices.IndexFunc(r.Figures, func(f bench.Figure) bool { return f.Name == name })
	if i < 0 {
		t.Fatalf("%s has no figure %q: %+v", r.Scenario, name, r.Figures)
	}
	return r.Figures[i]
}

func TestLoadsCountWhatTheServerCounts(t *testing.T) {
	for scenario, requests := range map[string]float64{"cycles": 2, "renew": 1, "status": 1} {
		f, url := startFake(t, "")
		r := measure(t, quick(url, scenario))[0]
		counted, served := figure(t, r, "throughput").Value*r.Seconds*requests, float64(f.requests.Load())
		// Beside what was counted: each connection's last step, its acquire before and its release after.
		if counted > served || counted < served-4*(requests+2) {
			t.Errorf("%s: counted %g requests of %g", scenario, counted, served)
		}
		r = measureSome(t, quick(url, scenario), "throughput")
		if p50, p99 := figure(t, r, "p50").Value, figure(t, r, "p99").Value; p50 <= 0 || p99 < p50 {
			t.Errorf("%s: p50 %g, p99 %g", scenario, p50, p99)
		}
		figure(t, r, "server CPU/request")
	}
}

func TestHandoff(t *testing.T) {
	_, url := startFake(t, "")
	r := measureSome(t, quick(url, "handoff"), "pairs in order")
	if figure(t, r, "handoffs checked").Value == 0 {
		t.Errorf("nothing was checked: %+v", r.Figures)
	}
	p50, one := figure(t, r, "p50").Value, figure(t, r, "one request").Value
	if got := figure(t, r, "p50 by one request").Value; one <= 0 || got != p50/one {
		t.Errorf("%g by %g is given as %g", p50, one, got)
	}
}

func TestBrokenPromisesAreCaught(t *testing.T) {
	for broken, c := range map[string]struct{ scenario, says string }{
		"exclusion": {"handoff", ""}, // two at once, or their fences in the wrong order: whichever is read first
		"fence":     {"handoff", "was granted fence"},
		"order":     {"handoff", "stood in line before"},
		"repeated":  {"watchers", "got the event"},
		"fences":    {"cycles", "fence 99 was granted after 99"},
	} {
		_, url := startFake(t, broken)
		o := quick(url, c.scenario)
		o.Connections = []int{8}
		var err error
		for o.Duration = time.Second; err == nil && o.Duration < time.Minute; o.Duration *= 2 {
			err = bench.Run(t.Context(), o, &bytes.Buffer{}) // ends with the first violation
		}
		if v := new(*bench.ViolationError); !errors.As(err, v) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", broken, err)
		}
	}
}

func TestAWrongAnswerIsQuoted(t *testing.T) {
	_, url := startFake(t, "busy")
	for _, s := range bench.Scenarios() {
		if s.Name == "watchers" || s.Name == "park" {
			continue // they have tests of their own
		}
		err := bench.Run(t.Context(), quick(url, s.Name), &bytes.Buffer{})
		if err == nil || !strings.Contains(err.Error(), `409: {"code": "BUSY"}`) || !strings.Contains(err.Error(), s.Name+": ") {
			t.Errorf("%s: %v", s.Name, err)
		}
	}
}

func TestWatchers(t *testing.T) {
	for broken, want := range map[string]struct{ lost, cut float64 }{
		"":     {0, 0},
		"lost": {5, 0},
		"cut":  {30, 5}, // each of five watchers gets four events of ten
	} {
		_, url := startFake(t, broken)
		r := measure(t, quick(url, "watchers"))[0]
		lost, cut := figure(t, r, "lost").Value, figure(t, r, "cut off").Value
		if lost != want.lost || cut != want.cut || figure(t, r, "deliveries").Value != 50-lost {
			t.Errorf("%q: lost %g, cut off %g: %+v", broken, lost, cut, r.Figures)
		}
	}
}

func TestParkWaitsUntilAllStandInLine(t *testing.T) {
	_, url := startFake(t, "")
	r := measure(t, quick(url, "park"))[0]
	if figure(t, r, "memory parked").Value <= 0 {
		t.Errorf("%+v", r.Figures)
	}
}

func TestTopicsAreRetired(t *testing.T) {
	f, url := startFake(t, "")
	r := measure(t, quick(url, "topics"))[0]
	if figure(t, r, "memory base").Value <= 0 || f.pruned.Load() != 2 {
		t.Errorf("pruned %d times: %+v", f.pruned.Load(), r.Figures)
	}
	if len(f.topics) != 3+30+40 {
		t.Errorf("%d names were used", len(f.topics))
	}
}

func TestDisk(t *testing.T) {
	_, url := startFake(t, "")
	o := quick(url, "disk")
	o.Dir = t.TempDir()
	r := measure(t, o)[0]
	disk, cycles := figure(t, r, "disk").Value, figure(t, r, "throughput").Value
	if got := figure(t, r, "by half the disk's").Value; disk <= 0 || got != cycles/(disk/2) {
		t.Errorf("%g cycles beside %g syncs are given as %g", cycles, disk, got)
	}
	if left, _ := os.ReadDir(o.Dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestSelfAndFloor starts both kinds of servers, alternately.
func TestSelfAndFloor(t *testing.T) {
	o := quick("", "cycles", "renew", "status", "park", "topics")
	o.PID, o.AdminToken = 0, ""
	o.Self, o.Serve = true, program(t, "play-server")
	o.Floor, o.FloorServer = true, program(t, "play-floor")
	o.Rounds, o.Connections = 2, []int{3}
	reports := measure(t, o)
	if len(reports) != 5 {
		t.Fatalf("%d reports", len(reports))
	}
	for _, r := range reports {
		f := r.Figures[0]
		if len(f.Rounds) != 2 || len(f.FloorRounds) != 2 || f.Floor == nil {
			t.Errorf("%s: %+v", r.Scenario, f)
		}
	}
}

func TestDiskBesideMemory(t *testing.T) {
	o := quick("", "disk")
	o.Self, o.Serve, o.Dir = true, program(t, "play-server"), t.TempDir()
	r := measureSome(t, o, "by memory")
	if figure(t, r, "in memory").Value <= 0 {
		t.Errorf("%+v", r.Figures)
	}
}

// TestTheDisksFloorSyncs: a floor that stored nothing would be ahead of a disk that it never waits for.
func TestTheDisksFloorSyncs(t *testing.T) {
	o := quick("", "disk")
	o.Self, o.Serve, o.Dir = true, program(t, "play-server"), t.TempDir()
	o.Floor, o.FloorServer, o.Connections = true, program(t, "play-floor"), []int{1}
	r := measureSome(t, o, "throughput")
	cycles, disk := figure(t, r, "throughput"), figure(t, r, "disk")
	if cycles.Floor == nil || disk.Floor == nil || *cycles.Floor <= 0 || *disk.Floor <= 0 {
		t.Errorf("%+v", r.Figures)
	}
	if left, _ := os.ReadDir(o.Dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestAServerThatDoesNotStart(t *testing.T) {
	o := quick("", "cycles")
	o.Self, o.Serve = true, program(t, "play-dead")
	err := bench.Run(t.Context(), o, &bytes.Buffer{})
	if err == nil || !strings.Contains(err.Error(), "no room on this machine") {
		t.Error(err)
	}
	o.Serve = []string{t.TempDir() + "/nothing"}
	if err := bench.Run(t.Context(), o, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "cannot start") {
		t.Error(err)
	}
}

// playServer is a fake with the flags and words of a real server, and its profiler.
func playServer(args []string) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	f := newFake("")
	var asked atomic.Int64
	mux := http.NewServeMux()
	mux.HandleFunc("/-/metrics", func(w http.ResponseWriter, r *http.Request) {
		left := 2 - asked.Add(1)%3 // not all at once
		fmt.Fprintf(w, "# TYPE mutex_topics gauge\nmutex_topics %d\n", left)
	})
	mux.Handle("/", f)
	serve(ctx, "127.0.0.1:0", mux, "url")
	for i, arg := range args {
		if arg == "--pprof" {
			serve(ctx, args[i+1], http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), "profiler")
		}
	}
	<-ctx.Done()
}

// serve answers on an address, and says where.
func serve(ctx context.Context, addr string, h http.Handler, what string) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	s := &http.Server{Handler: h}
	context.AfterFunc(ctx, func() { _ = s.Close() })
	go func() { _ = s.Serve(l) }() // ends with the process
	fmt.Fprintf(os.Stderr, "level=INFO msg=serving %s=http://%s\n", what, l.Addr())
}
