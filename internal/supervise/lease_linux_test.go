package supervise_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"legible.sh/mutex/internal/supervise"
)

// orderVar holds the order for a test binary that is started as a supervisor.
const orderVar = "SUPERVISE_TEST_ORDER"

// order is one run, as a test describes it. Durations go by their number.
type order struct {
	Dir       string // lease.mode is read from here, lease.log and outcome.json are written here
	Argv      []string
	TTL       time.Duration
	Age       time.Duration // how long ago the grant was asked for
	Grace     time.Duration
	MaxHold   time.Duration
	OnLoss    supervise.LossPolicy
	Leftovers supervise.LeftoverPolicy
	LossHook  []string
	Quiet     bool
	Special   string // another program than one run: see helpers
}

// helpers are the programs that need more than one plain run.
var helpers = map[string]func(order) int{
	"":            runOnce,
	"many":        runMany,
	"queue":       queueOnly,
	"threads":     runAmongThreads,
	"pid1":        runAsInit,
	"bare":        runBare,
	"interrupted": runInterrupted,
	"rights":      sleepWithMoreRights,
}

func helper(text string) int {
	os.Unsetenv(orderVar)
	var o order
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		fmt.Fprintln(os.Stderr, "order:", err)
		return 99
	}
	return helpers[o.Special](o)
}

func runOnce(o order) int {
	outcome := run(o, supervise.CatchSignals(context.Background()))
	return outcome.Code
}

// run does what a front door does, less the acquiring.
func run(o order, signals *supervise.Signals) supervise.Outcome {
	events, err := supervise.OpenEvents(filepath.Join(o.Dir, "events"))
	if err != nil {
		panic(err)
	}
	outcome := supervise.Run(context.Background(), supervise.Config{
		Lease: &dirLease{dir: o.Dir},
		Held: supervise.Held{
			Topic: "deploy", Fence: 7, TTL: o.TTL, Sent: supervise.Now().Add(-o.Age),
		},
		Command: supervise.Command{Argv: o.Argv, Env: append(os.Environ(), "DIR="+o.Dir)},
		Signals: signals,
		Grace:   o.Grace, MaxHold: o.MaxHold, OnLoss: o.OnLoss, Leftovers: o.Leftovers, LossHook: o.LossHook,
		Stderr: os.Stderr, Quiet: o.Quiet, Events: events,
	})
	if err := events.Close(); err != nil {
		panic(err)
	}
	writeOutcome(o.Dir, outcome)
	return outcome
}

// result is an outcome as it is handed to the test.
type result struct {
	Cause      supervise.Cause
	Code       int
	Lost       bool
	Undead     bool
	ReleaseErr string
	Start      string
	Ends       time.Time
	Leftovers  []supervise.Process
}

func writeOutcome(dir string, o supervise.Outcome) {
	r := result{Cause: o.Cause, Code: o.Code, Lost: o.Lost, Undead: o.Undead, Ends: o.EndsAt, Leftovers: o.Leftovers}
	if o.ReleaseErr != nil {
		r.ReleaseErr = o.ReleaseErr.Error()
	}
	if o.StartErr != nil {
		r.Start = o.StartErr.Error()
	}
	text, _ := json.Marshal(r)
	if err := os.WriteFile(filepath.Join(dir, "outcome.json"), text, 0o600); err != nil {
		panic(err)
	}
}

// dirLease is a lease whose service is a directory: the file lease.mode says how it answers (ok, lost, fail,
// hang, reclaim, late: refused, but only after the call was given up), lease.log notes each call.
type dirLease struct {
	dir     string
	unclear bool       // a release had no answer
	mu      sync.Mutex // guards the log: a call that was given up may still be writing
}

var errDown = errors.New("connection refused")

func (l *dirLease) Renew(ctx context.Context) (supervise.Renewal, error) {
	l.note("renew")
	switch l.mode() {
	case "lost":
		return supervise.Renewal{}, fmt.Errorf("no such lease: %w", supervise.ErrLost)
	case "fail":
		return supervise.Renewal{}, errDown
	case "hang":
		<-ctx.Done()
		return supervise.Renewal{}, ctx.Err()
	case "late":
		<-ctx.Done()
		l.note("late answer")
		return supervise.Renewal{}, fmt.Errorf("no such lease: %w", supervise.ErrLost)
	case "reclaim":
		return supervise.Renewal{Fence: 8, Reclaimed: true}, nil
	}
	l.note("renewed")
	return supervise.Renewal{}, nil
}

func (l *dirLease) Release(ctx context.Context) error {
	l.note("release with " + strings.Join(l.living(), " "))
	switch l.mode() {
	case "lost", "gone":
		if l.unclear {
			return nil
		}
		return fmt.Errorf("no such lease: %w", supervise.ErrLost)
	case "fail":
		l.unclear = true
		return errDown
	case "hang":
		l.unclear = true
		<-ctx.Done()
		return ctx.Err()
	}
	l.note("released")
	return nil
}

func (l *dirLease) mode() string {
	mode, err := os.ReadFile(filepath.Join(l.dir, "lease.mode"))
	if err != nil {
		return "ok"
	}
	return strings.TrimSpace(string(mode))
}

func (l *dirLease) note(what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	log, err := os.OpenFile(filepath.Join(l.dir, "lease.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	defer log.Close()
	fmt.Fprintf(log, "%d %s\n", supervise.Now(), what)
}

// living names the processes that wrote their pid into a file *.pid of the directory and still run.
func (l *dirLease) living() []string {
	files, _ := filepath.Glob(filepath.Join(l.dir, "*.pid"))
	names := []string{}
	for _, file := range files {
		if pid, err := pidIn(file); err == nil && alive(pid) {
			names = append(names, strings.TrimSuffix(filepath.Base(file), ".pid"))
		}
	}
	return names
}
