package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"legible.sh/mutex/internal/cli"
	"legible.sh/mutex/internal/locker"
)

// useLocker is use with another kind of locker.
func useLocker(l locker.Locker, args ...string) result {
	return use(nil, func(f *cli.Flavour, _ *cli.Streams) {
		f.Connect = func(*pflag.FlagSet, func(string, ...any)) cli.Opener {
			return func(context.Context) (locker.Locker, string, error) { return l, "here", nil }
		}
	}, args...)
}

func heldStatus() locker.Status {
	now := time.Now()
	return locker.Status{
		Key: "deploy:staging", State: locker.Held, Capacity: 1, Waiting: 1,
		Holders: []locker.Holder{{
			Who: locker.Who{Name: "worker-3\x1b]0;pwned\a", Reason: "release \u202e1.8", Host: "ci-7", PID: 4711}, Fence: 42,
			Since: now.Add(-41 * time.Second), Expires: now.Add(48 * time.Second), Renewed: now.Add(-12 * time.Second),
		}},
		Waiters: []locker.Waiter{{Who: locker.Who{Name: "nightly", Reason: "build"}, Since: now.Add(-12 * time.Second), Position: 1}},
	}
}

func TestStatusForAPerson(t *testing.T) {
	r := use(&service{status: heldStatus()}, onTerminals, "status", "deploy:staging")
	r.wants(t, 0)
	for _, part := range []string{
		"deploy:staging  held\n", `holder    worker-3\u001b]0;pwned\u0007 (pid 4711 on ci-7)`, `reason    release \u202e1.8`,
		"held for  41s, renewed 12s ago\n", "expires   in 48s\n", "fence     42\n", "1 waiting\n", "  1  nightly, for 12s: build\n",
	} {
		if !strings.Contains(r.out, part) {
			t.Errorf("lacks %q:\n%s", part, r.out)
		}
	}
}

func TestStatusForAProgram(t *testing.T) {
	r := use(&service{status: heldStatus()}, nil, "status", "deploy:staging")
	if strings.ContainsAny(r.out, "\x1b\a\u202e") {
		t.Errorf("raw control characters: %q", r.out)
	}
	var s struct {
		State   string
		Holders []struct{ Name, Reason string }
	}
	if err := json.Unmarshal([]byte(r.out), &s); err != nil || s.State != "held" || s.Holders[0].Name != "worker-3\x1b]0;pwned\a" || s.Holders[0].Reason != "release \u202e1.8" {
		t.Error(err, r.out)
	}
	if !strings.Contains(r.out, "\n  \"state\": \"held\",\n") {
		t.Error("cannot be taken apart with sed:", r.out)
	}
	free := use(&service{status: locker.Status{Key: "t", State: locker.Free}}, nil, "status", "t")
	want := `{"topic":"t","state":"free","capacity":null,"holders":[],"waiting":0,"waiters":[]}`
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(free.out)); err != nil || compact.String() != want {
		t.Error(free.out)
	}
}

func TestStatusExitCode(t *testing.T) {
	for state, code := range map[locker.State]int{
		locker.Held: 0, locker.Free: 3, locker.Expired: 4, locker.Corrupt: 5, locker.Unreadable: 5,
		"": 5, "new": 5, // as from somebody else's server, or a later one
	} {
		s := &service{status: locker.Status{Key: "t", State: state}}
		r := use(s, nil, "status", "t", "--exit-code")
		if r.wants(t, code); r.out == "" || r.err != "" {
			t.Errorf("%s: printed %q, said %q", state, r.out, r.err)
		}
		use(s, nil, "status", "t").wants(t, 0)
	}
	gone := &service{err: &locker.UnreachableError{Where: "http://h", Err: errOther}}
	use(gone, nil, "status", "t", "--exit-code").wants(t, 5, "http://h")
	use(gone, nil, "status", "t").wants(t, 1, "http://h")
	use(&service{err: locker.ErrUsage}, nil, "status", "t", "--exit-code").wants(t, 2)
}

func TestListFitsTheTerminal(t *testing.T) {
	s := heldStatus()
	s.Key, s.Holders[0].Reason = strings.Repeat("k", 64), strings.Repeat("reason ", 30)
	free := locker.Status{Key: "free", State: locker.Free}
	r := use(&service{list: []locker.Status{s, free}}, onTerminals, "list")
	r.wants(t, 0)
	lines := strings.Split(strings.TrimSuffix(r.out, "\n"), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[0], "TOPIC ") {
		t.Fatalf("printed\n%s", r.out)
	}
	for _, head := range []string{"STATE", "HOLDER", "EXPIRES", "HELD-FOR", "WAITERS", "REASON"} {
		if !strings.Contains(lines[0], head) {
			t.Error("no column", head)
		}
	}
	for _, line := range lines {
		if utf8.RuneCountInString(line) > 100 {
			t.Errorf("%d columns: %s", utf8.RuneCountInString(line), line)
		}
	}
}

// TestHistoryKeepsItsTimesOnANarrowTerminal: the names give way, not when it happened nor what.
func TestHistoryKeepsItsTimesOnANarrowTerminal(t *testing.T) {
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.Local)
	s := &service{events: []locker.Event{{
		Who: locker.Who{Name: strings.Repeat("n", 60)}, Time: at, Kind: locker.EventForced, Key: strings.Repeat("k", 64), By: strings.Repeat("b", 60),
	}}}
	r := use(s, func(f *cli.Flavour, s *cli.Streams) { onTerminals(f, s); s.Width = 80 }, "history")
	r.wants(t, 0)
	if !strings.Contains(r.out, "2030-01-02 03:04:05  force-released  ") {
		t.Errorf("printed\n%s", r.out)
	}
	for line := range strings.Lines(r.out) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// TestHelpOfADirectorySpeaksOfNoServer, nor of several keys where one is taken.
func TestHelpOfADirectorySpeaksOfNoServer(t *testing.T) {
	for _, verb := range []string{"acquire", "release", "status"} {
		r := use(&service{}, flagsFirst, "help", verb)
		for _, wrong := range []string{"server", "connection", "until it is answered", "each KEY"} {
			if strings.Contains(r.out, wrong) {
				t.Errorf("help %s speaks of %q:\n%s", verb, wrong, r.out)
			}
		}
	}
}

// TestHelpNamesACallThatWorks for the verbs that have verbs of their own.
func TestHelpNamesACallThatWorks(t *testing.T) {
	use(&service{}, nil, "help", "completion").wants(t, 0)
	if r := use(&service{}, nil, "help", "completion"); !strings.Contains(r.out, `"mutex help completion COMMAND" tells`) {
		t.Error(r.out)
	}
	use(&service{}, nil, "help", "completion", "bash").wants(t, 0)
}

func TestWait(t *testing.T) {
	use(&service{status: locker.Status{Key: "t", State: locker.Free}}, nil, "wait", "t").wants(t, 0)
	use(&service{err: locker.ErrBroken}, nil, "wait", "t").wants(t, 1)
	s := &service{wait: func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}}
	r := use(s, nil, "wait", "t", "--timeout", "0.02")
	if r.wants(t, 11, "no lease has ended within"); r.out != "" {
		t.Error(r.out)
	}
	silent := &service{wait: func(ctx context.Context) error {
		<-ctx.Done()
		return &locker.UnreachableError{Where: "http://there", Err: ctx.Err()}
	}}
	use(silent, nil, "wait", "t", "--timeout", "0.02").wants(t, 1, "no answer from http://there")
}

func TestHistory(t *testing.T) {
	event := locker.Event{
		Who: locker.Who{Name: "n\x1b", Reason: "why"}, ID: 7, Time: time.Now(), Kind: locker.EventReleased, Key: "t", LeaseID: "ab",
		Fence: 42, Held: 41 * time.Second,
	}
	s := &service{events: []locker.Event{event}}
	r := use(s, onTerminals, "history", "t", "--since", "7d", "--all", "--limit", "20")
	r.wants(t, 0)
	if !strings.Contains(r.out, "held for 41s; why") || strings.Contains(r.out, "\x1b") {
		t.Errorf("printed %q", r.out)
	}
	back := time.Since(s.query.Since)
	if s.query.Key != "t" || !s.query.Renewed || s.query.Limit != 20 || back < 7*24*time.Hour || back > 7*24*time.Hour+time.Minute {
		t.Errorf("asked for %+v", s.query)
	}
	r = use(s, nil, "history")
	if s.query.Key != "" || s.query.Renewed || s.query.Limit != 50 || !s.query.Since.IsZero() {
		t.Errorf("asked for %+v", s.query)
	}
	if !strings.Contains(r.out, `"event": "released"`) || !strings.Contains(r.out, `"held": 41`) {
		t.Error(r.out)
	}
}

// TestHistoryTellsAZeroAsTheServerDoes: who had not to wait waited 0, and an acquired lease was held for no time yet.
func TestHistoryTellsAZeroAsTheServerDoes(t *testing.T) {
	s := &service{events: []locker.Event{
		{ID: 3, Kind: locker.EventExpired}, {ID: 2, Kind: locker.EventRenewed}, {ID: 1, Kind: locker.EventAcquired},
	}}
	r := use(s, nil, "history")
	r.wants(t, 0)
	if strings.Count(r.out, `"held": 0`) != 1 || strings.Count(r.out, `"waited": 0`) != 1 {
		t.Error(r.out)
	}
}

func TestForceReleaseOnlySaysUntilToldTo(t *testing.T) {
	forced := locker.Forced{Key: "t", DryRun: true, Released: heldStatus().Holders}
	s := &service{forced: forced}
	r := use(s, onTerminals, "force-release", "t")
	r.wants(t, 0)
	if !s.force.DryRun || !strings.Contains(r.out, "would be released") || !strings.Contains(r.out, "--yes --fence 42") {
		t.Errorf("%+v\n%s", s.force, r.out)
	}
	use(s, onTerminals, "force-release", "t", "--dry-run").wants(t, 0)
	if !s.force.DryRun {
		t.Error("--dry-run does it")
	}
	s.force = locker.Force{}
	use(s, nil, "force-release", "t", "--dry-run", "--yes").wants(t, 2, "leave out --yes to look")
	if s.force != (locker.Force{}) {
		t.Error("a contradiction asked the server")
	}
	s.forced.DryRun = false
	r = use(s, onTerminals, "force-release", "t", "--yes", "--fence", "42", "--name", "me", "--reason", "wedged")
	r.wants(t, 0)
	if s.force.DryRun || s.force.Fence != 42 || s.force.By.Name != "me" || s.force.By.Reason != "wedged" || strings.Contains(r.out, "would") {
		t.Errorf("%+v\n%s", s.force, r.out)
	}
	s.forced.Released = nil
	if r = use(s, onTerminals, "force-release", "t", "--yes", "--fence", "9"); !strings.Contains(r.out, "nobody holds it with fence 9") {
		t.Error(r.out)
	}
}

func TestDurations(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"60": time.Minute, "0.5": 500 * time.Millisecond, "20m": 20 * time.Minute, "1h30m": 90 * time.Minute, "0": 0, "7d": 168 * time.Hour, "250ms": 250 * time.Millisecond,
	} {
		if got, err := cli.ParseDuration(text); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "-1", "-5m", "NaN", "Inf", "1e300", "d", "5 m", "five", "1e12d"} {
		if got, err := cli.ParseDuration(text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestHelpAndVersion(t *testing.T) {
	for _, args := range []string{"", "help", "help run", "acquire --help", "version", "completion bash"} {
		r := use(&service{}, nil, strings.Fields(args)...)
		if r.wants(t, 0); r.out == "" || r.err != "" {
			t.Errorf("%q printed %q, said %q", args, r.out, r.err)
		}
	}
}

// TestEveryVerbHasAPage: what it is, how it is called, what its exit codes mean, and no line too wide.
func TestEveryVerbHasAPage(t *testing.T) {
	for _, verb := range []string{
		"acquire", "renew", "release", "run", "check", "status", "list", "wait", "history", "force-release", "prune", "top",
	} {
		r := use(&service{}, nil, "help", verb)
		for _, section := range []string{"NAME\n  mutex " + verb, "SYNOPSIS\n  mutex " + verb, "DESCRIPTION\n  " + verb, "FLAGS\n"} {
			if !strings.Contains(r.out, section) {
				t.Errorf("help %s lacks %q:\n%s", verb, section, r.out)
			}
		}
		for line := range strings.Lines(r.out) {
			if utf8.RuneCountInString(line) > 140 || strings.Contains(line, "{") {
				t.Errorf("help %s: %s", verb, line)
			}
		}
	}
}

func TestACommandThatCannotBeExecuted(t *testing.T) {
	use(&service{}, nil, "run", "t", "--", "/etc/passwd").wants(t, 126)
	use(&service{}, flagsFirst, "run", "t", "--", "/etc/passwd").wants(t, 127)
	s := &service{}
	use(s, nil, "run", "t", "--", "no-such-program-here").wants(t, 127)
	if s.log() != "" {
		t.Error("queued for nothing:", s.log())
	}
}
