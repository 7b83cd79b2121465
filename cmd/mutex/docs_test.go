package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestThePageHasEveryVerbAndVariable: what help names, docs/cli.md names too.
func TestThePageHasEveryVerbAndVariable(t *testing.T) {
	page, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	help := run(t, mutex(t, nil, "help")).wants(t, 0).out
	for _, m := range regexp.MustCompile(`(?m)^  ([a-z-]+) +[A-Z]`).FindAllStringSubmatch(help, -1) {
		switch verb := m[1]; verb {
		case "mutex", "help", "version", "completion":
		default:
			if !strings.Contains(string(page), "`"+verb+"`") {
				t.Errorf("docs/cli.md does not name %s", verb)
			}
		}
	}
	for _, variable := range regexp.MustCompile(`MUTEX_[A-Z_]+`).FindAllString(help, -1) {
		if !strings.Contains(string(page), variable) {
			t.Errorf("docs/cli.md does not name %s", variable)
		}
	}
}
