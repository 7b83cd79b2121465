package policy_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"legible.sh/mutex/internal/policy"
)

func TestEveryMistakeIsNamedWithItsLine(t *testing.T) {
	const secret = "mutex_hunter2hunter2hunter2"
	for _, c := range []struct {
		name, text string
		want       []string // "line: part of the text", in order
	}{
		{"empty", "", []string{": the file is empty"}},
		{"only a comment", "# later\n", []string{": the file is empty"}},
		{"no mapping", "- a\n", []string{"1: this must be fields"}},
		{"no rules", "tokens: {}\n", []string{"1: there are no rules"}},
		{"rules without a value", "rules:\n", []string{"1: rules must be a list"}},
		{"unknown field", "rules: []\nrulez: []\n", []string{"2: there is no such field; the fields here are rules, tokens"}},
		{"unknown field in a rule", "rules:\n  - topic: a\n    ttl: 5\n", []string{"3: there is no such field; the fields here are acquire, force"}},
		{"twice", "rules: []\nrules: []\n", []string{"2: this field stands on line 1 already"}},
		{"two documents", "rules: []\n---\nrules: []\n", []string{"2: the file has a second document"}},
		{"not YAML", "rules: [\n", []string{"not YAML"}},
		{"a bare star", "rules:\n  - topic: *\n", []string{"must stand in quotes"}},
		{"an alias", "rules:\n  - topic: &a b\n  - topic: *a\n", []string{"3: topic must be a list"}},
		{"an alias of nothing", "rules:\n  - topic: *" + secret + "\n", []string{"alias of nothing"}},
		{"a merge", "rules:\n  - <<: {topic: a}\n", []string{"2: a field's name must be plain", "2: the rule has no topic"}},
		{"no topic", "rules:\n  - read: anyone\n", []string{"2: the rule has no topic"}},
		{"no topics", "rules:\n  - topic: []\n", []string{"2: topic must name at least one"}},
		{"a bad topic", "rules:\n  - topic: a/b\n", []string{"2: a topic pattern is 1 to 80"}},
		{"a long topic", "rules:\n  - topic: " + strings.Repeat("x", 81) + "\n", []string{"2: a topic pattern is 1 to 80"}},
		{"a rule that is text", "rules:\n  - a\n", []string{"2: this must be fields"}},
		{"never reached", "rules:\n  - topic: ['x', 'a*c']\n  - topic: ['b', 'ab*c', 'x']\n",
			[]string{"3: ab*c is never reached: the rule on line 2 has a*c", "3: x is never reached"}},
		{"unknown name", "tokens:\n  ci: ${ci}\nrules:\n  - topic: a\n    acquire: [ci, " + secret + "]\n",
			[]string{"5: this is no name from tokens, and not the SHA-256 of a token; the names are admin, anyone, ci, server"}},
		{"a token for its digest", "tokens:\n  ci: " + secret + "\nrules: []\n", []string{"2: this is not the SHA-256 of a token"}},
		{"a token for its name", "tokens:\n  " + secret + "X: ${ci}\nrules: []\n", []string{"2: a token's name is 1 to 32"}},
		{"a token as a field", "rules: []\n" + secret + ": 1\n", []string{"2: there is no such field"}},
		{"a nested token", "tokens:\n  ci: [{a: b}]\nrules: []\n", []string{"2: this is not the SHA-256"}},
		{"a nested grant", "rules:\n  - topic: a\n    acquire: [[ci]]\n", []string{"3: acquire is a list of names"}},
		{"a taken name", "tokens:\n  anyone: ${ci}\nrules: []\n", []string{"2: anyone has a meaning of its own"}},
		{"force for all", "rules:\n  - topic: a\n    force: anyone\n", []string{"3: force cannot be open to anyone"}},
		{"limits", "rules:\n  - topic: a\n    max_ttl: 0\n    max_wait: 25h\n    max_capacity: 1.5\n    max_waiters: 0\n",
			[]string{"3: max_ttl: give seconds", "4: max_wait: give seconds", "5: max_capacity: give a whole number from 1 to 65536", "6: max_waiters: give"}},
		{"odd limits", "rules:\n  - topic: a\n    max_ttl: [1]\n    max_wait: 1.2.3\n    max_capacity:\n    max_waiters: 99999999999999999999\n",
			[]string{"3: max_ttl must be a single value", "4: max_wait: give", "5: max_capacity must be", "6: max_waiters: give"}},
		{"several, by line", "rules:\n  - topic: a/b\n    reed: x\n  - topic: c\n    force: nobody\n",
			[]string{"2: a topic pattern", "3: there is no such", "5: this is no name"}},
		{"too large", "rules: []\n#" + strings.Repeat("x", 1<<20), []string{"larger than 1048576 bytes"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := write(t, c.text)
			err := policy.Check(file)
			if !errors.Is(err, policy.ErrBadFile) {
				t.Fatalf("Check: %v", err)
			}
			lines := strings.Split(err.Error(), "\n")
			if len(lines) != len(c.want) {
				t.Fatalf("got %d lines, want %d:\n%v", len(lines), len(c.want), err)
			}
			for i, want := range c.want {
				if !strings.HasPrefix(lines[i], file+":") || !strings.Contains(lines[i], want) {
					t.Errorf("line %d:\n got %s\nwant %s", i, lines[i], want)
				}
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("it repeats what may be a token: %v", err)
			}
		})
	}
}

// TestTheDocumentedFileIsRight keeps the example in docs/policy.md loadable.
func TestTheDocumentedFileIsRight(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "policy.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(doc), "```yaml\n")
	example, _, closed := strings.Cut(rest, "```")
	if !found || !closed {
		t.Fatal("docs/policy.md has no YAML example")
	}
	if err := policy.New(policy.Options{Tokens: []string{"x"}}).Load(write(t, example)); err != nil {
		t.Error(err)
	}
}

func FuzzFile(f *testing.F) {
	f.Add([]byte(example))
	f.Add([]byte("rules:\n  - {topic: '*a*b*', acquire: anyone}\n"))
	f.Add([]byte("tokens: &a {b: *a}\nrules: *a"))
	f.Add([]byte("? [a]\n: b\n"))
	file := filepath.Join(f.TempDir(), "policy.yaml")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		p := policy.New(policy.Options{Tokens: []string{serverToken}, AdminToken: adminToken, Limits: defaults})
		err := p.Load(file)
		if (err == nil) != (policy.Check(file) == nil) {
			t.Fatalf("Load says %v, Check the opposite", err)
		}
		if got := answer(p, "some:topic", policy.Force, "guess"); got != "401" {
			t.Errorf("a wrong token forces: %q", got)
		}
		if got := answer(p, "some:topic", policy.Force, adminToken); got != "" {
			t.Errorf("the admin does not: %q", got)
		}
	})
}
