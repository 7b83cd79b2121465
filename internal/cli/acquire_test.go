package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"legible.sh/mutex/internal/cli"
	"legible.sh/mutex/internal/locker"
)

func TestAcquirePrintsTheGrant(t *testing.T) {
	s := &service{acquire: func(_ context.Context, key string, r locker.Request) (locker.Grant, error) {
		if r.TTL != 20*time.Minute || r.Wait != 1500*time.Millisecond || r.Capacity != 3 || r.Name != "me" || r.Reason != "why" || r.PID == 0 {
			return locker.Grant{}, fmt.Errorf("asked for %+v", r)
		}
		return granted(key, r), nil
	}}
	r := use(s, nil, "acquire", "--ttl", "20m", "deploy:x", "--wait=1.5", "--capacity", "3", "--name", "me", "--reason", "why")
	r.wants(t, 0)
	var grant struct {
		Topic, Lease string
		Fence        int64
		TTL          float64
	}
	if err := json.Unmarshal([]byte(r.out), &grant); err != nil || grant.Topic != "deploy:x" || grant.Lease != string(secret) || grant.Fence != 42 || grant.TTL != 1200 {
		t.Errorf("printed %s", r.out)
	}
	if !strings.Contains(r.out, "\n  \"fence\": 42,\n") {
		t.Error("cannot be taken apart with sed:", r.out)
	}
	if r.err != "" {
		t.Errorf("said %q", r.err)
	}
}

// TestAFailedAcquirePrintsNothing: whoever takes a lease out of stdout must not find one.
func TestAFailedAcquirePrintsNothing(t *testing.T) {
	busy := &locker.BusyError{Key: "t", Kind: locker.ErrBusy, Holders: []string{"worker-3"}}
	timeout := &locker.BusyError{Key: "t", Kind: locker.ErrTimeout, Waited: time.Second}
	silent := &locker.UnreachableError{Where: "http://h", Err: errOther}
	for _, c := range []struct {
		err         error
		code, other int
		says        string
	}{
		{busy, 1, 10, "held by worker-3"},
		{timeout, 1, 11, "within 1s"},
		{silent, 1, 1, "no answer from http://h: something else"},
		{locker.ErrUsage, 2, 2, "not a valid request"},
		{locker.ErrBroken, 1, 1, "cannot be used"},
	} {
		s := &service{acquire: func(context.Context, string, locker.Request) (locker.Grant, error) { return locker.Grant{}, c.err }}
		for _, r := range []result{use(s, nil, "acquire", "t"), use(s, onTerminals, "acquire", "t", "--json")} {
			r.wants(t, c.code, c.says)
			if r.out != "" {
				t.Errorf("printed %q", r.out)
			}
		}
		use(s, flagsFirst, "acquire", "t").wants(t, c.other, c.says)
	}
}

func TestSeveralAreTakenByNameAndPrintedInOrder(t *testing.T) {
	s := &service{}
	r := use(s, nil, "acquire", "c", "a", "b")
	r.wants(t, 0)
	if got := s.log(); got != "acquire a; acquire b; acquire c" {
		t.Error(got)
	}
	var topics []string
	for dec := json.NewDecoder(strings.NewReader(r.out)); dec.More(); {
		var g struct{ Topic string }
		if err := dec.Decode(&g); err != nil {
			t.Fatal(err)
		}
		topics = append(topics, g.Topic)
	}
	if got := strings.Join(topics, " "); got != "c a b" {
		t.Errorf("printed %q", got)
	}
}

func TestSeveralAreTakenAllOrNone(t *testing.T) {
	s := &service{acquire: func(_ context.Context, key string, r locker.Request) (locker.Grant, error) {
		if key == "c" {
			return locker.Grant{}, &locker.BusyError{Key: key, Kind: locker.ErrTimeout}
		}
		return granted(key, r), nil
	}}
	r := use(s, nil, "acquire", "c", "b", "a")
	r.wants(t, 1, "c was not free")
	want := fmt.Sprintf("acquire a; acquire b; acquire c; release b %s; release a %s", secret.Reveal(), secret.Reveal())
	if got := s.log(); got != want || r.out != "" {
		t.Errorf("did %q, printed %q", got, r.out)
	}
	use(&service{}, nil, "acquire", "a", "b", "a").wants(t, 2, "twice")
	use(&service{}, flagsFirst, "acquire", "a", "b").wants(t, 2, "too many")
}

// TestLeasesAreKeptAliveWhileOthersAreAwaited, and if one is lost all are given back.
func TestLeasesAreKeptAliveWhileOthersAreAwaited(t *testing.T) {
	renewed := make(chan struct{})
	s := &service{}
	s.acquire = func(ctx context.Context, key string, r locker.Request) (locker.Grant, error) {
		for key == "b" && !strings.Contains(s.log(), "renew a") {
			select {
			case <-ctx.Done():
				return locker.Grant{}, ctx.Err()
			case <-time.After(time.Millisecond):
			}
		}
		return granted(key, r), nil
	}
	close(renewed)
	use(s, nil, "acquire", "a", "b", "--ttl", "0.3").wants(t, 0)
	s.calls, s.err = nil, locker.ErrGone
	use(s, nil, "acquire", "a", "b", "--ttl", "0.3").wants(t, 1, "a was lost while waiting")
	if !strings.Contains(s.log(), "release b") {
		t.Error(s.log())
	}
}

func TestWaitingIsTold(t *testing.T) {
	held := locker.Progress{Holders: []string{"worker\x1b[2J-3"}, Position: 2, RetryAfter: 41 * time.Second}
	s := &service{acquire: func(_ context.Context, key string, r locker.Request) (locker.Grant, error) {
		r.Progress(held)
		r.Progress(held)
		r.Progress(locker.Progress{Trouble: &locker.UnreachableError{Where: "http://h", Err: errOther}, Patience: 290 * time.Second})
		r.Progress(held)
		return granted(key, r), nil
	}}
	piped := use(s, nil, "acquire", "t")
	want := `mutex: waiting for t, held by worker\u001b[2J-3, number 2 in line (41s left)
mutex: no answer from http://h: something else; trying again for 4m50s
mutex: waiting for t, held by worker\u001b[2J-3, number 2 in line (41s left)
`
	if piped.err != want {
		t.Errorf("said\n%s", piped.err)
	}
	tty := use(s, onTerminals, "acquire", "t")
	if strings.Count(tty.err, "\n") != 1 || strings.Count(tty.err, "\r\x1b[K") < 4 || !strings.HasSuffix(tty.err, "\r\x1b[K") || strings.Contains(tty.err, "\x1b[2J") {
		t.Errorf("drew %q", tty.err)
	}
	if quiet := use(s, nil, "acquire", "t", "-q"); quiet.err != "" {
		t.Errorf("said %q", quiet.err)
	}
}

// TestALongTopicLeavesRoomOnTheTerminal for the place in line and the holder.
func TestALongTopicLeavesRoomOnTheTerminal(t *testing.T) {
	topic := strings.Repeat("long", 14) + "x"
	for _, c := range []struct {
		columns  int
		position int
		holder   string
		want     string
	}{
		{0, 1, "worker-3", "mutex: next in line for longlonglonglonglonglongl…, held by worker-3 (41s left)"},
		{80, 12, "worker-3", "mutex: number 12 in line for longlonglonglonglong…, held by worker-3 (41s left)"},
		{80, 1, strings.Repeat("w", 128), "mutex: next in line for longlonglonglong…, held by wwwwwwwwwwwwwwww… (41s left)"},
		{40, 1, "worker-3", "mutex: next in line for l…, held by wo…"},
		{120, 0, "worker-3", "mutex: waiting for " + topic + ", held by worker-3 (41s left), "},
		{120, 2, "", "mutex: number 2 in line for " + topic + " (41s left), "},
	} {
		s := &service{acquire: func(_ context.Context, key string, r locker.Request) (locker.Grant, error) {
			p := locker.Progress{Position: c.position, RetryAfter: 41 * time.Second}
			if c.holder != "" {
				p.Holders = []string{c.holder}
			}
			r.Progress(p)
			return granted(key, r), nil
		}}
		r := use(s, func(f *cli.Flavour, s *cli.Streams) { onTerminals(f, s); s.ErrWidth = c.columns }, "acquire", topic)
		if drawn := strings.Split(r.err, "\r\x1b[K")[1]; !strings.HasPrefix(drawn, c.want) || c.columns < 120 && drawn != c.want {
			t.Errorf("%d columns:\n%s\n%s", c.columns, drawn, c.want)
		}
	}
}

func TestUsage(t *testing.T) {
	for _, c := range []struct {
		args string
		says string
	}{
		{"acquire", "which topic"},
		{"acquire t --ttl x", "20m"},
		{"acquire t --ttl -5", "duration"},
		{"acquire t --ttl 0", "more than 0"},
		{"acquire t --ttl NaN", "duration"},
		{"acquire t --capacity -1", "--capacity"},
		{"acquire t --capacity 0", "--capacity must be 1 or more"},
		{"run t --capacity 0 -- true", "--capacity must be 1 or more"},
		{"renew t x --ttl 0", "--ttl must be more than 0"},
		{"force-release t --yes --fence 0", "--fence must be"},
		{"acquire t --no-such", "--no-such"},
		{"acquire t --tll 5", "did you mean --ttl?"},
		{"acquire t --resaon x", "did you mean --reason?"},
		{"acquire t --cap 3", "did you mean --capacity?"},
		{"acquire t -ttl 5", "did you mean --ttl?"},
		{"help foo", "foo: no such command\n"},
		{"help aquire", "did you mean acquire?"},
		{"acquire t -- cmd", "takes no command"},
		{"run t cmd", "which command"},
		{"run t --", "which command"},
		{"run -- cmd", "which topic"},
		{"run t --busy-exit 256 -- true", "0 to 255"},
		{"run t --leftovers x -- true", "release, wait and kill"},
		{"run t --on-lease-loss x -- true", "terminate and continue"},
		{"renew t", "TEST_LEASE"},
		{"renew t a b", "too many"},
		{"list --state x", "corrupt"},
		{"history --since yesterday", "24h"},
		{"status a b", "too many"},
		{"stauts", "status"},
	} {
		r := use(&service{}, nil, strings.Fields(c.args)...)
		r.wants(t, 2, c.says, "--help")
		if r.out != "" {
			t.Errorf("%s printed %q", c.args, r.out)
		}
	}
}

// TestHelpOfWhatIsThere also with what the command would take behind it.
func TestHelpOfWhatIsThere(t *testing.T) {
	for args, says := range map[string]string{"help": "LOCKING", "help acquire": "--ttl", "help acquire t": "--ttl", "help help": "help"} {
		if r := use(&service{}, nil, strings.Fields(args)...); r.code != 0 || !strings.Contains(r.out, says) {
			t.Errorf("%s: exit %d, %s%s", args, r.code, r.out, r.err)
		}
	}
}

// TestACommandWithoutDashesIsToldWhereItStands, in a line to copy, whatever the front door's kind.
func TestACommandWithoutDashesIsToldWhereItStands(t *testing.T) {
	for _, c := range []struct {
		flavour func(*cli.Flavour, *cli.Streams)
		args    []string
		says    string
	}{
		{nil, []string{"run", "t", "echo", "it's me"}, `behind --: mutex run t -- echo 'it'\''s me'` + "\n"},
		{nil, []string{"run", "t", "--ttl", "5", "echo"}, "behind --: mutex run t [flags] -- echo\n"},
		{nil, []string{"run", "t"}, "behind --. Usage: mutex run TOPIC... [flags] -- COMMAND...\n"},
		{nil, []string{"run", "t", "echo", "--"}, "behind --. Usage: "},
		{flagsFirst, []string{"run", "k", "echo", "-n", "hi"}, "behind --: agentmutex run k -- echo -n hi\n"},
		{flagsFirst, []string{"run", "k", "--ttl", "5", "echo"}, "--ttl stands after the key"},
		{flagsFirst, []string{"run", "k", "j", "--", "echo"}, "too many arguments: j"},
	} {
		use(&service{}, c.flavour, c.args...).wants(t, 2, c.says)
	}
}

func TestFlagsAnywhereOrFirst(t *testing.T) {
	s := &service{}
	use(s, nil, "acquire", "t", "--ttl", "5").wants(t, 0)
	use(s, flagsFirst, "acquire", "--ttl", "5", "t").wants(t, 0)
	use(s, flagsFirst, "acquire", "t", "--ttl", "5").wants(t, 2, "flags stand before it")
	use(s, flagsFirst, "run", "t", "--ttl", "5", "--", "true").wants(t, 2, "flags stand before it")
}

func TestTheOtherFrontDoorPrintsItsOwn(t *testing.T) {
	if r := use(&service{}, flagsFirst, "acquire", "t"); r.out != string(secret.Reveal())+"\n" {
		t.Errorf("printed %q", r.out)
	}
	alias := func(f *cli.Flavour, s *cli.Streams) {
		flagsFirst(f, s)
		f.Aliases = map[string][]string{"acquire": {"lock"}}
	}
	use(&service{}, alias, "lock", "t").wants(t, 0)
}
