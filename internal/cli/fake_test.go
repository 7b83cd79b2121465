package cli_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"legible.sh/mutex/internal/cli"
	"legible.sh/mutex/internal/locker"
)

const secret = locker.Token("5f0c8a1e6b7d4c3f9a2b1d0e8c7f6a54")

// service is a lock service that writes down what it is asked and answers as the test says.
type service struct {
	mu    sync.Mutex // guards calls and ttl, which keepers of leases write
	calls []string

	acquire func(ctx context.Context, key string, r locker.Request) (locker.Grant, error)
	err     error // of everything else
	status  locker.Status
	list    []locker.Status
	events  []locker.Event
	wait    func(ctx context.Context) error
	forced  locker.Forced
	query   locker.HistoryQuery
	force   locker.Force
	ttl     time.Duration // of the last renewal
}

func (s *service) called(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, fmt.Sprintf(format, args...))
}

func (s *service) log() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.calls, "; ")
}

func (s *service) Acquire(ctx context.Context, key string, r locker.Request) (locker.Grant, error) {
	s.called("acquire %s", key)
	if s.acquire != nil {
		return s.acquire(ctx, key, r)
	}
	return granted(key, r), nil
}

func granted(key string, r locker.Request) locker.Grant {
	return locker.Grant{Key: key, Token: secret, Name: "n", Fence: 42, TTL: r.TTL, Capacity: 1, Holders: []string{"n"}}
}

func (s *service) Renew(_ context.Context, key string, lease locker.Token, ttl time.Duration) (locker.Renewal, error) {
	s.called("renew %s %s", key, lease.Reveal())
	s.mu.Lock()
	s.ttl = ttl
	s.mu.Unlock()
	return locker.Renewal{Key: key, Fence: 42, TTL: time.Minute}, s.err
}

func (s *service) Release(_ context.Context, key string, lease locker.Token) (locker.Released, error) {
	s.called("release %s %s", key, lease.Reveal())
	return locker.Released{Key: key, Fence: 42}, s.err
}

func (s *service) Check(_ context.Context, key string, lease locker.Token) (locker.Renewal, error) {
	s.called("check %s %s", key, lease.Reveal())
	return locker.Renewal{Key: key, Fence: 42}, s.err
}

func (s *service) Status(context.Context, string) (locker.Status, error) { return s.status, s.err }
func (s *service) List(context.Context, locker.ListQuery) ([]locker.Status, error) {
	return s.list, s.err
}
func (s *service) Prune(context.Context) (locker.Pruned, error) {
	return locker.Pruned{Pruned: 3}, s.err
}

func (s *service) Wait(ctx context.Context, _ string) (locker.Status, error) {
	if s.wait != nil {
		return s.status, s.wait(ctx)
	}
	return s.status, s.err
}

func (s *service) History(_ context.Context, q locker.HistoryQuery) ([]locker.Event, error) {
	s.query = q
	return s.events, s.err
}

func (s *service) ForceRelease(_ context.Context, _ string, f locker.Force) (locker.Forced, error) {
	s.force = f
	return s.forced, s.err
}

// result is what became of one command.
type result struct {
	code     int
	out, err string
}

// use runs a command of mutex's kind on s, with its output piped, after change has had its way with it.
func use(s *service, change func(*cli.Flavour, *cli.Streams), args ...string) result {
	var out, words bytes.Buffer
	streams := &cli.Streams{In: strings.NewReader(string(secret) + "\n"), Out: &out, Err: &words}
	f := mutexLike(s)
	if change != nil {
		change(&f, streams)
	}
	code := cli.Main(context.Background(), f, args, streams)
	return result{code, out.String(), words.String()}
}

func mutexLike(s *service) cli.Flavour {
	return cli.Flavour{
		Program: "mutex", Noun: "topic", Many: true, Semaphores: true, JSONWhenPiped: true,
		TTL:    time.Minute,
		Name:   cli.NameFlag{Flag: "name", Env: "TEST_NAME"},
		Lease:  cli.LeaseFlags{Arg: true, FileFlag: "lease-file", Env: "TEST_LEASE"},
		Export: cli.ExportFlag{Flag: "no-export-lease", Withholds: true},
		Codes:  cli.Codes{Busy: 1, Timeout: 1, NotHolder: 1, NotHeld: 1, Lost: 75},
		Shapes: cli.WireShapes(),
		Connect: func(*pflag.FlagSet, func(string, ...any)) cli.Opener {
			return func(context.Context) (locker.Locker, string, error) { return s, "here", nil }
		},
		Patience: func(flags *pflag.FlagSet) func() time.Duration {
			wait := cli.Duration(300 * time.Second)
			flags.Var(&wait, "wait", "")
			return wait.D
		},
		Environ: func([]locker.Grant, bool) []string { return nil },
	}
}

// onTerminals has a command write to terminals.
func onTerminals(_ *cli.Flavour, s *cli.Streams) { s.OutTTY, s.ErrTTY, s.Width = true, true, 100 }

// flagsFirst makes the other front door's kind.
func flagsFirst(f *cli.Flavour, _ *cli.Streams) {
	f.Program, f.Noun, f.FlagsFirst, f.Many, f.JSONWhenPiped = "agentmutex", "key", true, false, false
	f.Lease = cli.LeaseFlags{Flag: "token", FileFlag: "token-file", Env: "TEST_LEASE"}
	f.Codes = cli.Codes{Busy: 10, Timeout: 11, NotHolder: 12, NotHeld: 13, Lost: 14, NotExecutable: 127}
	f.PrintGrants = func(s *cli.Streams, grants []locker.Grant) error {
		_, err := fmt.Fprintln(s.Out, grants[0].Token.Reveal())
		return err
	}
}

func (r result) wants(t *testing.T, code int, errParts ...string) {
	t.Helper()
	if r.code != code {
		t.Errorf("exit %d, want %d; it said %q", r.code, code, r.err)
	}
	for _, part := range errParts {
		if !strings.Contains(r.err, part) {
			t.Errorf("it said %q, without %q", r.err, part)
		}
	}
}

var errOther = errors.New("something else")
