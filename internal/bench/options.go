package bench

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// Options say what to measure, and on which server. [Defaults] has the values that most runs want.
type Options struct {
	// Scenarios are names out of [Scenarios], measured in this order.
	Scenarios []string

	// URL is the server: http://, https:// or unix:///path. Empty: Self must be set.
	URL string
	// Token and AdminToken go with the requests that need one. The admin's is for the scenario topics alone.
	Token, AdminToken string
	// PID is the server's process, to read its CPU and memory; 0 where unknown. Ignored with Self.
	PID int
	// Pprof is host:port of the server's profiler, through which the scenario topics has it collect its garbage
	// first; empty where there is none. Ignored with Self.
	Pprof string

	// Self starts a fresh server for each measurement, on a free port of loopback.
	Self bool
	// Serve is the command that serves, such as mutex serve; needed with Self. Run adds its own flags and then
	// ServeFlags.
	Serve, ServeFlags []string

	// Floor also measures a bare net/http server; the server must then be on loopback.
	Floor bool
	// FloorServer is the command of a process that calls [ServeFloor]; needed with Floor.
	FloorServer []string

	// Connections are how many connections to use, measured one after another. In the scenario handoff they are
	// the waiters.
	Connections []int
	// Duration is how long one measurement takes; Warmup runs ahead of it and is not counted.
	Duration, Warmup time.Duration
	// Settle is how long a server must have been at rest before its memory is read.
	Settle time.Duration
	// Rounds is how often each is measured.
	Rounds int

	// Hold is how long the scenario handoff keeps the lease before it gives it back.
	Hold time.Duration
	// Waiters park over Topics topics in the scenario park.
	Waiters, Topics int
	// Watchers watch one topic that has Rate events a second, in the scenario watchers.
	Watchers, Rate int
	// Live topics are held at once, and then Names of them used and let go, in the scenario topics.
	Live, Names int
	// Dir is a directory on the disk to measure in the scenario disk; empty: the one for temporary files.
	Dir string

	// JSON prints one JSON object for each scenario and number of connections, a line each, instead of tables.
	JSON bool
	// Progress, if set, is told what is being measured.
	Progress func(string)
}

// Defaults are the options of a run of five seconds a round, for the scenario cycles.
func Defaults() Options {
	return Options{
		Scenarios:   []string{"cycles"},
		Connections: []int{16},
		Duration:    5 * time.Second,
		Warmup:      500 * time.Millisecond,
		Settle:      2 * time.Second,
		Rounds:      3,
		Waiters:     5000, Topics: 100,
		Watchers: 100, Rate: 100,
		Live: 10000, Names: 100000,
	}
}

// ErrOptions is under every error about options that cannot be used.
var ErrOptions = errors.New("bench")

// check holds the options to their ranges; its error lists all that is wrong.
func (o *Options) check() error {
	var bad []error
	want := func(ok bool, format string, args ...any) {
		if !ok {
			bad = append(bad, fmt.Errorf("%w: "+format, append([]any{ErrOptions}, args...)...))
		}
	}
	want(len(o.Scenarios) > 0, "which scenario? One or more of %s", strings.Join(names(), ", "))
	for _, name := range o.Scenarios {
		s, ok := find(name)
		want(ok, "no scenario %q; there are %s", name, strings.Join(names(), ", "))
		want(!ok || !s.needsProcess || o.Self || o.PID > 0,
			"%s reads the server's memory: give its pid, or have a server started", name)
		want(!ok || !o.Floor || s.floor, "%s has no floor", name)
	}
	want(o.Self || o.URL != "", "which server? Give a URL, or have one started")
	want(!o.Self || o.URL == "", "a URL and a server of its own: choose one")
	want(!o.Self || len(o.Serve) > 0, "a server of its own needs the command that serves")
	want(!o.Floor || len(o.FloorServer) > 0, "the floor needs the command that serves it")
	want(len(o.Connections) > 0, "how many connections?")
	want(!slices.ContainsFunc(o.Connections, func(n int) bool { return n < 1 || n > 10000 }), "connections are 1 to 10000")
	want(o.Duration > 0 && o.Duration <= 4*time.Minute, "the duration is more than 0 and at most 4m, so that no lease or wait ends in it")
	want(o.Warmup >= 0 && o.Hold >= 0 && o.Settle >= 0, "warmup, hold and settle are not less than 0")
	want(o.Rounds >= 1, "rounds are 1 or more")
	want(o.Waiters >= 1 && o.Topics >= 1 && o.Topics <= o.Waiters, "waiters and topics are 1 or more, and no more topics than waiters")
	want(o.Watchers >= 1 && o.Rate >= 1, "watchers and rate are 1 or more")
	want(o.Live >= 1 && o.Names >= 1, "live topics and names are 1 or more")
	if o.URL != "" {
		t, err := parseTarget(o.URL, o.Token)
		want(err == nil, "%w", err)
		want(err != nil || !o.Floor || t.loopback(), "the floor is on loopback, so the server must be: %s is not", o.URL)
	}
	return errors.Join(bad...)
}

// loopback tells whether the server is on this machine.
func (t *target) loopback() bool {
	if t.network == "unix" || strings.HasPrefix(t.addr, "localhost:") {
		return true
	}
	ip, err := netip.ParseAddrPort(t.addr)
	return err == nil && ip.Addr().IsLoopback()
}

func (o *Options) say(format string, args ...any) {
	if o.Progress != nil {
		o.Progress(fmt.Sprintf(format, args...))
	}
}
