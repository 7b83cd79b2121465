package lease_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"legible.sh/mutex/internal/lease"
)

var update = flag.Bool("update", false, "write what the golden scripts gave into them")

// TestScripts runs testdata/*.script. A script is read from top to bottom:
//
//	# a comment
//	new keep=30s floor=0                         a topic that nobody has used; also the default at the top
//	@5s acquire b ttl=10s wait=20s key=k         one command at a time (b is the token, k the client's key)
//	  * granted b fence=2 slot=0 expires=@15s    what it brought about; * is what a journal keeps
//	  = b fence=2 slot=0 expires=@15s            what the asker was told, or
//	  ! held by others: ...                      why it was refused
//
// The commands are those of lease.Command, and: status, due (when there is next something to do), idle,
// suspend on|off, restart (the topic as its journal restores it), apply KIND (an event from a file).
// Indented lines are the output: -update writes them.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.script")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".script"), func(t *testing.T) { runFile(t, file) })
	}
}

func runFile(t *testing.T, file string) {
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p := player{keys: map[lease.Key]string{}}
	p.restart("keep=30s")
	for i, line := range strings.Split(string(want), "\n") {
		if strings.HasPrefix(line, "  ") {
			continue
		}
		p.out.WriteString(line + "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		if err := p.play(line); err != nil {
			t.Fatalf("%s:%d: %s: %v", file, i+1, line, err)
		}
		if err := p.state.CheckInvariants(); err != nil {
			t.Fatalf("%s:%d: after %s: %v", file, i+1, line, err)
		}
	}
	got := strings.TrimSuffix(p.out.String(), "\n")
	if *update {
		err = os.WriteFile(file, []byte(got), 0o644)
	} else if got != string(want) {
		err = errors.New(firstDifference(got, string(want)))
	}
	if err != nil {
		t.Errorf("%s: %v", file, err)
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	i := 0
	for i < len(g) && i < len(w) && g[i] == w[i] {
		i++
	}
	g, w = append(g[i:], "(the end)"), append(w[i:], "(the end)")
	return fmt.Sprintf("line %d:\n got: %s\nwant: %s", i+1, g[0], w[0])
}

// start is when every script and every random history begins.
var start = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

// player runs a script against one topic.
type player struct {
	state   *lease.State
	floor   lease.Fence
	keep    time.Duration
	journal records
	keys    map[lease.Key]string
	out     strings.Builder
}

// restart begins with a new topic.
func (p *player) restart(settings string) {
	f := parseFields(settings)
	p.floor, p.keep, p.journal = lease.Fence(f.number("floor")), f.duration("keep"), nil
	p.state = lease.New(p.floor, p.keep)
}

// play runs one line.
func (p *player) play(line string) error {
	if settings, ok := strings.CutPrefix(line, "new "); ok {
		p.restart(settings)
		return nil
	}
	at, rest, _ := strings.Cut(line, " ")
	offset, err := time.ParseDuration(strings.TrimPrefix(at, "@"))
	if err != nil {
		return err
	}
	now := start.Add(offset)
	verb, rest, _ := strings.Cut(rest, " ")
	switch verb {
	case "status":
		p.printStatus(p.state.Status())
	case "due":
		p.printDue()
	case "idle":
		p.printf("= %v", p.state.Idle())
	case "suspend":
		p.state.Suspend(rest == "on")
	case "restart":
		p.state = p.journal.replay(p.floor, p.keep, now)
	case "apply":
		return p.apply(rest)
	default:
		return p.command(verb, rest, now)
	}
	return nil
}

var verbs = map[string]lease.Op{
	"acquire": lease.Acquire, "renew": lease.Renew, "release": lease.Release, "check": lease.Check,
	"give-up": lease.GiveUp, "abandon": lease.Abandon, "force": lease.Force, "look": lease.Look,
}

func (p *player) command(verb, args string, now time.Time) error {
	op, ok := verbs[verb]
	if !ok {
		return fmt.Errorf("no verb %q", verb)
	}
	f := parseFields(args)
	_, given := f["ttl"]
	c := lease.Command{
		Op: op, Token: tokenOf(f["token"]), Key: p.key(f["key"]), TTL: f.duration("ttl"),
		TTLOmitted: !given, Capacity: f.number("capacity"), Wait: f.duration("wait"),
		MaxWaiters: f.number("max-waiters"), Fence: lease.Fence(f.number("fence")), By: f["by"],
		Who: lease.Who{Name: f["token"]},
	}
	if op == lease.Acquire && !given {
		c.TTL = time.Minute
	}
	outcome, events, err := p.state.Step(&c, now, nil)
	p.journal.add(events)
	for i := range events {
		p.printEvent(&events[i])
	}
	if err != nil {
		p.printf("! %s", describe(err))
		return nil
	}
	p.printOutcome(op, &outcome)
	return nil
}

// apply hands one event of a file to the topic.
func (p *player) apply(args string) error {
	name, args, _ := strings.Cut(args, " ")
	kind := lease.Declared
	for kind.String() != name {
		if kind++; kind > lease.Forgotten {
			return fmt.Errorf("no kind %q", name)
		}
	}
	f := parseFields(args)
	e := lease.Event{
		Kind: kind, Token: tokenOf(f["token"]), Key: p.key(f["key"]), Who: lease.Who{Name: f["name"]},
		Fence: lease.Fence(f.number("fence")), Slot: f.number("slot"), Capacity: f.number("capacity"),
		TTL: f.duration("ttl"), At: f.time("at"), Since: f.time("since"), Enqueued: f.time("enqueued"),
		Expires: f.time("expires"), Deadline: f.time("deadline"),
	}
	if f["cause"] == "gave-up" {
		e.Cause = lease.GaveUp
	}
	p.state.Apply(&e)
	return nil
}

func (p *player) key(name string) lease.Key {
	k := lease.KeyOf(name)
	if name != "" {
		p.keys[k] = name
	}
	return k
}

// tokenOf makes a token that shows its name.
func tokenOf(name string) (t lease.Token) {
	copy(t[:], name)
	return t
}

// fields are the words of a line: one bare word, the token, and name=value.
type fields map[string]string

func parseFields(s string) fields {
	f := fields{}
	for _, word := range strings.Fields(s) {
		if name, value, ok := strings.Cut(word, "="); ok {
			f[name] = value
		} else {
			f["token"] = word
		}
	}
	return f
}

func (f fields) number(name string) int {
	switch f[name] {
	case "max":
		return int(lease.MaxFence)
	case "over":
		return int(lease.MaxFence) + 1
	}
	return must(strconv.Atoi(orZero(f[name])))
}

func (f fields) duration(name string) time.Duration { return must(time.ParseDuration(orZero(f[name]))) }

func (f fields) time(name string) time.Time {
	if f[name] == "" {
		return time.Time{}
	}
	return start.Add(must(time.ParseDuration(strings.TrimPrefix(f[name], "@"))))
}

func orZero(s string) string {
	if s == "" {
		return "0"
	}
	return s
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
