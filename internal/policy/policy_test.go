package policy_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"legible.sh/mutex/internal/lease"
	"legible.sh/mutex/internal/policy"
)

const (
	serverToken = "server-token"
	adminToken  = "admin-token"
)

var defaults = policy.Limits{MaxTTL: time.Hour, MaxWait: 5 * time.Minute, MaxCapacity: 1024, MaxWaiters: 1024}

// write makes a policy file in which ${ci}, ${ops} and ${old} stand for the digests of the tokens of those names.
func write(t testing.TB, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "policy.yaml")
	rewrite(t, file, text)
	return file
}

func rewrite(t testing.TB, file, text string) {
	t.Helper()
	text = os.Expand(text, func(name string) string { return policy.Sum(name) })
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func load(t testing.TB, o policy.Options, text string) *policy.Policy {
	t.Helper()
	p := policy.New(o)
	if text != "" {
		if err := p.Load(write(t, text)); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

const example = `
tokens:
  ci: ${ci}
  ops: [ '${ops}', '${old}' ]
rules:
  - topic: deploy:prod
    read: [ops]
    acquire: [ci]
    force: [ops]
    max_ttl: 10m
    max_wait: 0
    max_capacity: 1
    max_waiters: 5
  - topic: ["deploy:*", "release-*-gate"]
    acquire: [ci, server]
  - topic: secret:*
    read: admin
    acquire: []
    force: ops
  - topic: open:*
    acquire: anyone
    max_ttl: 0.5
    max_capacity: 4096
  - topic: "*:inline"
    acquire: [ '${inline}' ]
`

func TestWhoMayDoWhat(t *testing.T) {
	const yes, unauthorized, forbidden = "", "401", "403"
	type who struct{ none, wrong, server, ci, ops, admin string }
	all := who{}
	for _, c := range []struct {
		topic lease.Topic
		right policy.Right
		want  who
	}{
		{"other", policy.Read, all},
		{"other", policy.Acquire, who{unauthorized, unauthorized, yes, forbidden, forbidden, yes}},
		{"other", policy.Force, who{unauthorized, unauthorized, forbidden, forbidden, forbidden, yes}},
		{"deploy:prod", policy.Read, who{unauthorized, unauthorized, forbidden, yes, yes, yes}},
		{"deploy:prod", policy.Acquire, who{unauthorized, unauthorized, forbidden, yes, forbidden, yes}},
		{"deploy:prod", policy.Force, who{unauthorized, unauthorized, forbidden, forbidden, yes, yes}},
		{"deploy:staging", policy.Read, all},
		{"deploy:staging", policy.Acquire, who{unauthorized, unauthorized, yes, yes, forbidden, yes}},
		{"deploy:staging", policy.Force, who{unauthorized, unauthorized, forbidden, forbidden, forbidden, yes}},
		{"release-7-gate", policy.Acquire, who{unauthorized, unauthorized, yes, yes, forbidden, yes}},
		{"secret:x", policy.Read, who{unauthorized, unauthorized, forbidden, forbidden, yes, yes}},
		{"secret:x", policy.Acquire, who{unauthorized, unauthorized, forbidden, forbidden, forbidden, yes}},
		{"open:x", policy.Acquire, all},
		{"x:inline", policy.Acquire, who{unauthorized, unauthorized, forbidden, forbidden, forbidden, yes}},
	} {
		p := load(t, policy.Options{Tokens: []string{"another", serverToken}, AdminToken: adminToken, Limits: defaults}, example)
		got := who{
			none: answer(p, c.topic, c.right, ""), wrong: answer(p, c.topic, c.right, "guess"),
			server: answer(p, c.topic, c.right, serverToken), ci: answer(p, c.topic, c.right, "ci"),
			ops: answer(p, c.topic, c.right, "ops"), admin: answer(p, c.topic, c.right, adminToken),
		}
		if got != c.want {
			t.Errorf("%s %s:\n got %+v\nwant %+v", c.right, c.topic, got, c.want)
		}
		if old := answer(p, c.topic, c.right, "old"); old != got.ops {
			t.Errorf("%s %s: the second token of a name gets %q, the first %q", c.right, c.topic, old, got.ops)
		}
	}
}

// answer is the status that a request would get.
func answer(p *policy.Policy, topic lease.Topic, right policy.Right, token string) string {
	_, err := p.Decide(topic, right, token)
	switch {
	case err == nil:
		return ""
	case errors.Is(err, policy.ErrUnauthorized):
		return "401"
	case errors.Is(err, policy.ErrForbidden):
		return "403"
	case errors.Is(err, policy.ErrNoAdmin):
		return "no admin"
	}
	return err.Error()
}

func TestAnInlineDigestIsAsGoodAsAName(t *testing.T) {
	p := load(t, policy.Options{Tokens: []string{serverToken}, Limits: defaults}, example)
	if got := answer(p, "x:inline", policy.Acquire, "inline"); got != "" {
		t.Errorf("got %s", got)
	}
	if got := answer(p, "other", policy.Acquire, "inline"); got != "403" {
		t.Errorf("elsewhere: got %q, want 403", got)
	}
}

func TestLimitsOfTheFirstRuleThatMatches(t *testing.T) {
	p := load(t, policy.Options{Tokens: []string{serverToken}, AdminToken: adminToken, Limits: defaults}, example)
	for topic, want := range map[lease.Topic]policy.Limits{
		"other":          defaults,
		"deploy:prod":    {MaxTTL: 10 * time.Minute, MaxWait: 0, MaxCapacity: 1, MaxWaiters: 5},
		"deploy:staging": defaults,
		"open:x":         {MaxTTL: 500 * time.Millisecond, MaxWait: 5 * time.Minute, MaxCapacity: 4096, MaxWaiters: 1024},
	} {
		got, err := p.Decide(topic, policy.Acquire, adminToken)
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", topic, got, err, want)
		}
	}
}

func TestWithoutTokensEverybodyMayLockAndNobodyForce(t *testing.T) {
	p := policy.New(policy.Options{Limits: defaults})
	for _, token := range []string{"", "whatever"} {
		if got := answer(p, "t", policy.Read, token) + answer(p, "t", policy.Acquire, token); got != "" {
			t.Errorf("with the token %q: %s", token, got)
		}
		if got := answer(p, "t", policy.Force, token); got != "no admin" {
			t.Errorf("force with the token %q: %q", token, got)
		}
		if err := p.Admin(token); !errors.Is(err, policy.ErrNoAdmin) {
			t.Errorf("Admin(%q): %v", token, err)
		}
	}
}

func TestAdmin(t *testing.T) {
	p := load(t, policy.Options{Tokens: []string{serverToken}, AdminToken: adminToken, Limits: defaults}, example)
	for token, want := range map[string]error{
		"": policy.ErrUnauthorized, "guess": policy.ErrUnauthorized, adminToken + "x": policy.ErrUnauthorized,
		serverToken: policy.ErrForbidden, "ops": policy.ErrForbidden, adminToken: nil,
	} {
		if err := p.Admin(token); !errors.Is(err, want) {
			t.Errorf("Admin(%q): %v, want %v", token, err, want)
		}
	}
}

func TestAWrongFileLeavesTheOldRulesInForce(t *testing.T) {
	p := policy.New(policy.Options{Tokens: []string{serverToken}, Limits: defaults})
	file := write(t, example)
	if err := p.Load(file); err != nil {
		t.Fatal(err)
	}
	rewrite(t, file, example+"  - topic: later:*\n    aquire: [ci]\n")
	var bad *policy.FileError
	if err := p.Load(file); !errors.As(err, &bad) || !errors.Is(err, policy.ErrBadFile) {
		t.Fatalf("Load: %v", err)
	}
	if err := p.Load(file + ".gone"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Load of no file: %v", err)
	}
	if got := answer(p, "deploy:prod", policy.Acquire, serverToken); got != "403" {
		t.Errorf("the old rule is gone: %q", got)
	}
	rewrite(t, file, "rules: []")
	if err := p.Load(file); err != nil {
		t.Fatal(err)
	}
	if got := answer(p, "deploy:prod", policy.Acquire, serverToken); got != "" {
		t.Errorf("the new file is not in force: %q", got)
	}
}

func TestRulesAreSwappedInOneStep(t *testing.T) {
	p := policy.New(policy.Options{Limits: defaults})
	one := write(t, "rules:\n  - {topic: '*', acquire: ['${one}'], max_ttl: 1, max_wait: 1}\n")
	two := write(t, "rules:\n  - {topic: '*', acquire: anyone, max_ttl: 2, max_wait: 2}\n")
	if err := p.Load(one); err != nil {
		t.Fatal(err)
	}
	var readers sync.WaitGroup
	stop := make(chan struct{})
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if l, err := p.Decide("t", policy.Acquire, "one"); err != nil || l.MaxTTL != l.MaxWait {
					t.Errorf("%+v, %v", l, err)
					return
				}
			}
		})
	}
	for range 50 {
		for _, file := range []string{two, one} {
			if err := p.Load(file); err != nil {
				t.Error(err)
			}
		}
	}
	close(stop)
	readers.Wait()
}

func TestServerTokensMustExistWhereARuleNamesThem(t *testing.T) {
	text := "rules:\n  - topic: a\n    acquire: [server]\n"
	if err := policy.Check(write(t, text)); err != nil {
		t.Errorf("Check does not know the server: %v", err)
	}
	err := policy.New(policy.Options{}).Load(write(t, text))
	if err == nil || !strings.Contains(err.Error(), ":3: server stands for") {
		t.Errorf("Load: %v", err)
	}
}

func TestNewTokensAreTheirOwnAndFitTheFile(t *testing.T) {
	token, sum := policy.NewToken()
	other, _ := policy.NewToken()
	if token == other || len(token) < 43 || strings.Contains(sum, token) {
		t.Errorf("%q, %q, %q", token, other, sum)
	}
	p := load(t, policy.Options{}, "rules:\n  - topic: a\n    acquire: '"+sum+"'\n")
	if got := answer(p, "a", policy.Acquire, token) + answer(p, "a", policy.Acquire, other); got != "401" {
		t.Errorf("got %s, want the one admitted and the other not", got)
	}
}

func TestDecidingAllocatesNothing(t *testing.T) {
	open := policy.New(policy.Options{Limits: defaults})
	closed := load(t, policy.Options{Tokens: []string{serverToken}, AdminToken: adminToken, Limits: defaults}, example)
	long := strings.Repeat("x", 200)
	for name, ask := range map[string]func(){
		"without tokens": func() { _, _ = open.Decide("topic", policy.Acquire, "") },
		"by a rule":      func() { _, _ = closed.Decide("release-9-gate", policy.Acquire, serverToken) },
		"refused":        func() { _, _ = closed.Decide("deploy:prod", policy.Acquire, long) },
		"admin":          func() { _ = closed.Admin(long) },
	} {
		if n := testing.AllocsPerRun(100, ask); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
