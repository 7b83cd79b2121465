package httpserver_test

import (
	"path"
	"regexp"
	"strings"
	"testing"
)

var links = regexp.MustCompile(`\]\(([^)\s#]+)[^)]*\)`)

// TestNoLinkOfTheReadmeIsDead: an agent reads it here and has nothing else.
func TestNoLinkOfTheReadmeIsDead(t *testing.T) {
	s := start(t, nil)
	seen := map[string]bool{}
	var follow func(from, to string)
	follow = func(from, to string) {
		if seen[to] {
			return
		}
		seen[to] = true
		a := s.call(t, "GET", to)
		if a.status != 200 {
			t.Errorf("%s leads to %s: %d %s", from, to, a.status, a.text)
		}
		if !strings.HasSuffix(to, ".md") {
			return
		}
		for _, found := range links.FindAllStringSubmatch(a.text, -1) {
			if target := found[1]; !strings.Contains(target, "://") {
				follow(to, path.Join(path.Dir(to), target))
			}
		}
	}
	follow("", "/README.md")
	if !seen["/-/docs/run.md"] || !seen["/openapi.yaml"] || len(seen) < 10 {
		t.Errorf("it leads to %v alone", seen)
	}
}
