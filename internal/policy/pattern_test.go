package policy

import (
	"regexp"
	"strings"
	"testing"
)

func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern string
		yes, no []string
	}{
		{"deploy", []string{"deploy"}, []string{"deploys", "deplo", ""}},
		{"deploy:*", []string{"deploy:", "deploy:a:b"}, []string{"deploy", "xdeploy:a"}},
		{"*", []string{"a", "a:b-c_d"}, nil},
		{"*-lock", []string{"-lock", "a-lock"}, []string{"lock", "a-locks"}},
		{"a*b*c", []string{"abc", "axbxc", "abcbc"}, []string{"ab", "ac", "acb"}},
		{"ab*ba", []string{"abba", "abxba"}, []string{"aba", "ab"}},
		{"a**b", []string{"ab", "axb"}, []string{"a"}},
	} {
		p := newPattern(c.pattern)
		for _, topic := range c.yes {
			if !p.matches(topic) {
				t.Errorf("%s does not match %s", c.pattern, topic)
			}
		}
		for _, topic := range c.no {
			if p.matches(topic) {
				t.Errorf("%s matches %s", c.pattern, topic)
			}
		}
	}
}

func FuzzPattern(f *testing.F) {
	f.Add("a*b*c", "abcbc", "ab*c")
	f.Add("**a", "a", "*a")
	f.Fuzz(func(t *testing.T, text, topic, other string) {
		if !fits(text) || !fits(other) || !fits(topic) || strings.Contains(topic, "*") {
			return
		}
		p, q := newPattern(text), newPattern(other)
		model := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(text), `\*`, ".*") + "$")
		if got, want := p.matches(topic), model.MatchString(topic); got != want {
			t.Errorf("%s matches %s: %v, want %v", text, topic, got, want)
		}
		if p.covers(&q) && q.matches(topic) && !p.matches(topic) {
			t.Errorf("%s covers %s, which alone matches %s", text, other, topic)
		}
	})
}
