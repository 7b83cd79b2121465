package mutex_test

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	mutex "legible.sh/mutex"
	"legible.sh/mutex/internal/app/apptest"
)

var shell = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")

// TestTheReadmesShellRuns runs every line of shell in the README, in its order, in one shell.
func TestTheReadmesShellRuns(t *testing.T) {
	blocks := shell.FindAllStringSubmatch(string(mutex.Readme), -1)
	if len(blocks) < 5 {
		t.Fatalf("%d blocks of shell", len(blocks))
	}
	script := "set -euo pipefail\n"
	for i, b := range blocks {
		if i == 1 {
			// The first block takes the lease that the others take apart.
			script += "curl -sS -X DELETE \"$MUTEX_URL/deploy:staging/$(sed -n 's/.*\"lease\": \"\\(.*\\)\".*/\\1/p' first)\" >/dev/null\n"
		}
		if i == 0 {
			b[1] = strings.TrimSuffix(b[1], "\n") + " | tee first\n"
		}
		script += b[1]
	}
	script += "test -n \"$fence\"\n"
	cmd := exec.CommandContext(t.Context(), "bash", "-c", script)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "MUTEX_URL="+apptest.Serve(t, nil))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s\n--- of\n%s", err, out, script)
	}
	for _, want := range []string{`"lease": "`, `"state": "held"`, `"released": true`} {
		if !strings.Contains(string(out), want) {
			t.Errorf("nothing printed %s:\n%s", want, out)
		}
	}
}

var links = regexp.MustCompile(`\]\(([^)#:]+)\)`)

// TestTheReadmesLinksLead looks for every file that the README and the docs point to.
func TestTheReadmesLinksLead(t *testing.T) {
	for _, doc := range []struct{ path, dir string }{{"README.md", "."}, {"docs/architecture.md", "docs"}, {"deploy/README.md", "deploy"}} {
		text, err := os.ReadFile(doc.path)
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range links.FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(doc.dir + "/" + link[1]); err != nil {
				t.Errorf("%s points to %s: %v", doc.path, link[1], err)
			}
		}
	}
}
