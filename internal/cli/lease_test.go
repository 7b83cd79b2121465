package cli_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"legible.sh/mutex/internal/locker"
)

func TestWhereTheLeaseComesFrom(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "lease")
	grant := filepath.Join(dir, "grant.json")
	write(t, file, string(secret)+"\n")
	write(t, grant, use(&service{}, nil, "acquire", "t").out)
	for _, args := range []string{
		"renew t " + string(secret), "renew t -", "renew t --lease-file " + file, "renew t --lease-file " + grant,
		"renew --lease-file - t", "release t " + string(secret), "check t -",
	} {
		s := &service{}
		use(s, nil, strings.Fields(args)...).wants(t, 0)
		if verb, _, _ := strings.Cut(args, " "); s.log() != verb+" t "+string(secret) {
			t.Errorf("%s did %q", args, s.log())
		}
	}
	s := &service{}
	use(s, flagsFirst, "renew", "--token", string(secret), "t").wants(t, 0)
	use(s, flagsFirst, "renew", "--token-file", file, "t").wants(t, 0)
	t.Setenv("TEST_LEASE", string(secret))
	use(s, nil, "renew", "t", "--ttl", "0.5").wants(t, 0)
	if s.ttl != 500*time.Millisecond {
		t.Error("ttl", s.ttl)
	}
	use(s, nil, "renew", "t", "--lease-file", filepath.Join(dir, "none")).wants(t, 1, "--lease-file", "no such file")
	write(t, file, "\n")
	use(s, nil, "renew", "t", "--lease-file", file).wants(t, 2, "no lease in it")
}

// TestAFileOfSeveralGrants is what acquire prints for several topics: each verb takes the lease of the topic that it is asked about.
func TestAFileOfSeveralGrants(t *testing.T) {
	file := filepath.Join(t.TempDir(), "two.json")
	n := 0
	several := &service{acquire: func(_ context.Context, key string, r locker.Request) (locker.Grant, error) {
		n++
		g := granted(key, r)
		g.Token = locker.Token(strings.Repeat(string(rune('0'+n)), 32))
		return g, nil
	}}
	write(t, file, use(several, nil, "acquire", "a", "b").out)
	for _, verb := range []string{"renew", "check", "release"} {
		for key, digit := range map[string]string{"a": "1", "b": "2"} {
			s := &service{}
			use(s, nil, verb, key, "--lease-file", file).wants(t, 0)
			if want := verb + " " + key + " " + strings.Repeat(digit, 32); s.log() != want {
				t.Errorf("did %q, want %q", s.log(), want)
			}
		}
		s := &service{}
		use(s, nil, verb, "c", "--lease-file", file).wants(t, 2, "two.json", "on a, b, not on c")
		if s.log() != "" {
			t.Error("did", s.log())
		}
	}
	write(t, file, `{"lease":"`+string(secret)+`"}`+"\n")
	use(&service{}, nil, "renew", "t", "--lease-file", file).wants(t, 0)
	write(t, file, `{"topic":"t","lease":"`+string(secret)+`"} torn`)
	use(&service{}, nil, "renew", "t", "--lease-file", file).wants(t, 2, "no lease in it")
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestCodesOfALeaseThatIsOver(t *testing.T) {
	for _, c := range []struct {
		err                        error
		mutex, agent, check, gives int
	}{
		{locker.ErrGone, 1, 13, 1, 0},
		{locker.ErrNotHeld, 1, 13, 1, 0},
		{locker.ErrNotHolder, 1, 12, 1, 0},
		{errOther, 1, 1, 3, 0},
		{locker.ErrUsage, 2, 2, 2, 0},
	} {
		s := &service{err: c.err}
		lease := string(secret)
		use(s, nil, "renew", "t", lease).wants(t, c.mutex, c.err.Error())
		use(s, nil, "release", "t", lease).wants(t, c.mutex, c.err.Error())
		use(s, nil, "check", "t", lease).wants(t, c.check, c.err.Error())
		use(s, flagsFirst, "renew", "--token", lease, "t").wants(t, c.agent, c.err.Error())
		use(s, flagsFirst, "release", "--token", lease, "t").wants(t, c.agent, c.err.Error())
	}
}

// TestTheLeaseIsShownNowhereButInTheGrant: what renew, check and release print may end in anybody's log.
func TestTheLeaseIsShownNowhereButInTheGrant(t *testing.T) {
	for _, verb := range []string{"renew", "check", "release"} {
		for _, s := range []*service{{}, {err: locker.ErrGone}} {
			if r := use(s, nil, verb, "t", string(secret)); strings.Contains(r.out+r.err, string(secret)) {
				t.Errorf("%s shows it: %s%s", verb, r.out, r.err)
			}
			if r := use(s, onTerminals, verb, "t", string(secret)); strings.Contains(r.out+r.err, string(secret)) {
				t.Errorf("%s shows it on a terminal: %s%s", verb, r.out, r.err)
			}
		}
	}
}

func TestARenewalThatIsNotAnsweredIsRepeated(t *testing.T) {
	s := &stubborn{service: &service{}, left: 2}
	r := useLocker(s, "renew", "t", string(secret))
	r.wants(t, 0)
	if s.left != 0 {
		t.Error("not repeated")
	}
}

// stubborn does not answer the first renewals.
type stubborn struct {
	*service
	left int
}

func (s *stubborn) Renew(ctx context.Context, key string, lease locker.Token, ttl time.Duration) (locker.Renewal, error) {
	if s.left > 0 {
		s.left--
		return locker.Renewal{}, &locker.UnreachableError{Where: "h", Err: errOther}
	}
	return s.service.Renew(ctx, key, lease, ttl)
}
