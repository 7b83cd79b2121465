package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheBlockIsWhatItSays runs the calls of the printed block as an agent would.
func TestTheBlockIsWhatItSays(t *testing.T) {
	s := startServer(t)
	block := s.mutex("teach").wants(t, 0).out
	var calls []string
	for line := range strings.Lines(block) {
		if call := strings.TrimSpace(line); strings.HasPrefix(call, "curl ") {
			calls = append(calls, strings.NewReplacer("TOPIC", "deploy:staging", "YOU", "agent", "WHY", "test").Replace(call))
		}
	}
	if len(calls) != 4 {
		t.Fatalf("%d calls in %s", len(calls), block)
	}
	acquire, renew, release, status := calls[0], calls[1], calls[2], calls[3]
	grant := shell(t, acquire)
	lease := field(t, grant, "lease")
	if got := shell(t, strings.ReplaceAll(renew, "LEASE", lease)); field(t, got, "fence") != field(t, grant, "fence") {
		t.Error(got)
	}
	if got := shell(t, status); field(t, got, "state") != "held" || !strings.Contains(got, `"agent"`) {
		t.Error(got)
	}
	if got := shell(t, strings.ReplaceAll(release, "LEASE", lease)); !strings.Contains(got, `"released": true`) {
		t.Error(got)
	}
	if got := shell(t, strings.ReplaceAll(renew, "LEASE", lease)); field(t, got, "code") != "NOT_FOUND" {
		t.Error(got)
	}
}

func shell(t *testing.T, line string) string {
	t.Helper()
	cmd := mutex(t, nil)
	cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", line}
	return run(t, cmd).wants(t, 0).out
}

func TestTeachWritesSkills(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "skills")
	r := run(t, mutex(t, nil, "--url", "https://mutex.test", "teach", "--skill", dir)).wants(t, 0)
	files := strings.Fields(r.out)
	if len(files) != 2 {
		t.Fatalf("%q", r.out)
	}
	for _, file := range files {
		if b, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(b), "---\nname: ") {
			t.Errorf("%s: %.40q %v", file, b, err)
		}
	}
}

func TestTeachTellsOnlyWhatCurlCanReach(t *testing.T) {
	for url, want := range map[string]string{
		"unix:///run/mutex.sock":    "curl can reach",
		"file:///tmp/x":             "curl can reach",
		"mutex.test":                "curl can reach",
		"https://me:pw@mutex.test/": "password",
	} {
		r := run(t, mutex(t, []string{"MUTEX_URL=" + url}, "teach")).wants(t, 2, want)
		if r.out != "" || strings.Contains(r.err, "pw") {
			t.Errorf("%s: %q, %q", url, r.out, r.err)
		}
	}
}

// TestTheHelpIsWhatItSays has somebody with nothing but a base URL run what its help says, line by line.
func TestTheHelpIsWhatItSays(t *testing.T) {
	s := startServer(t)
	calls := make(map[string]string)
	for line := range strings.Lines(shell(t, "curl -sS "+s.url)) {
		if name, call, ok := strings.Cut(strings.TrimSpace(line), " "); ok && strings.HasPrefix(strings.TrimSpace(call), "curl ") {
			calls[name] = strings.Replace(strings.TrimSpace(call), "curl ", "curl -sS --fail-with-body ", 1)
		}
	}
	first := shell(t, calls["acquire"])
	held := func(call string) string { return strings.ReplaceAll(calls[call], "LEASE", field(t, first, "lease")) }
	next := mutex(t, nil)
	next.Path, next.Args = "/bin/sh", []string{"sh", "-c", calls["acquire"]}
	granted := begin(t, next)
	eventually(t, "the next one waits", func() bool { return strings.Contains(shell(t, calls["status"]), `"position": 1`) })
	if got := shell(t, held("renew")); field(t, got, "fence") != "1" {
		t.Error(got)
	}
	shell(t, held("release"))
	if got := granted().wants(t, 0).out; field(t, got, "fence") != "2" {
		t.Error(got)
	}
	if got := shell(t, calls["watch"]+" --max-time 1 || test $? = 28"); !strings.Contains(got, "event: status") {
		t.Error(got)
	}
	for _, slot := range []string{"0", "1", "2"} {
		if got := shell(t, calls["semaphore"]); field(t, got, "slot") != slot {
			t.Errorf("slot %s: %s", slot, got)
		}
	}
}
