package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// guardIn runs a guard on a file in a directory that it runs in.
func guardIn(t *testing.T, dir string, args ...string) result {
	t.Helper()
	cmd := mutex(t, nil, append([]string{"fence", "guard", "--file", "state.fence"}, args...)...)
	cmd.Dir = dir
	return run(t, cmd)
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestGuardRefusesAStaleFence(t *testing.T) {
	dir := t.TempDir()
	if r := guardIn(t, dir, "42", "--", "sh", "-c", "echo $MUTEX_FENCE > written").wants(t, 0); r.out != "" || r.err != "" {
		t.Errorf("%+v", r)
	}
	guardIn(t, dir, "41", "--", "sh", "-c", "echo zombie > written").wants(t, 76, "under fence 42", "yours is 41")
	if got := readFile(t, filepath.Join(dir, "written")); got != "42\n" {
		t.Errorf("%q was written", got)
	}
}

func TestGuardPassesTheCommandsCodeOnAndKeepsItsFence(t *testing.T) {
	dir := t.TempDir()
	guardIn(t, dir, "42", "--", "sh", "-c", "exit 7").wants(t, 7)
	guardIn(t, dir, "41", "--", "true").wants(t, 76)
	guardIn(t, dir, "42", "--", "sh", "-c", "kill -TERM $$").wants(t, -15)
	guardIn(t, dir, "43", "--", "./nothing-there").wants(t, 127)
	guardIn(t, dir, "43", "--", dir+"/state.fence").wants(t, 126)
	if got := readFile(t, filepath.Join(dir, "state.fence")); got != "42\n" {
		t.Errorf("a command that never ran left %q", got)
	}
}

func TestGuardTakesTheFenceOfARun(t *testing.T) {
	s := startServer(t)
	file := filepath.Join(t.TempDir(), "state.fence")
	for fence := 1; fence <= 2; fence++ {
		r := s.mutex("run", "site", "--", os.Args[0], "fence", "guard", "--file", file, "--", "sh", "-c", "echo $MUTEX_FENCE").wants(t, 0)
		if got := strings.TrimSpace(r.out); got != strings.TrimSpace(readFile(t, file)) || got != string(rune('0'+fence)) {
			t.Errorf("ran under %q", got)
		}
	}
	r := s.mutex("run", "a", "b", "--", os.Args[0], "fence", "guard", "--file", file, "--", "true")
	r.wants(t, 2, "MUTEX_FENCE has several")
}

// TestNobodyComesBetweenAGuardAndItsCommand has one guard's command wait for a word.
func TestNobodyComesBetweenAGuardAndItsCommand(t *testing.T) {
	dir := t.TempDir()
	script := "touch begun; while ! [ -e go ]; do sleep 0.02; done; echo $MUTEX_FENCE >> order"
	first := mutex(t, nil, "fence", "guard", "--file", "state.fence", "1", "--", "sh", "-c", script)
	first.Dir = dir
	endFirst := begin(t, first)
	eventually(t, "the first has begun", func() bool { _, err := os.Stat(filepath.Join(dir, "begun")); return err == nil })
	guardIn(t, dir, "--wait", "0", "2", "--", "sh", "-c", "echo early >> order").wants(t, 1, "locked by another guard")
	second := mutex(t, nil, "fence", "guard", "--file", "state.fence", "2", "--", "sh", "-c", "echo $MUTEX_FENCE >> order")
	second.Dir = dir
	endSecond := begin(t, second)
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	endFirst().wants(t, 0)
	endSecond().wants(t, 0)
	if got := readFile(t, filepath.Join(dir, "order")); got != "1\n2\n" {
		t.Errorf("%q", got)
	}
}

// TestWhatACommandLeavesRunningKeepsTheLock: it may still write.
func TestWhatACommandLeavesRunningKeepsTheLock(t *testing.T) {
	dir := t.TempDir()
	guardIn(t, dir, "1", "--", "sh", "-c", "(while ! [ -e go ]; do sleep 0.02; done) > /dev/null 2>&1 &").wants(t, 0)
	guardIn(t, dir, "--wait", "0", "2", "--", "true").wants(t, 1, "locked by another guard")
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	guardIn(t, dir, "2", "--", "true").wants(t, 0)
}

func TestFenceCheckKeepsAndShows(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state.fence")
	check := func(n string) result { return run(t, mutex(t, nil, "fence", "check", file, n)) }
	check("42").wants(t, 0)
	check("41").wants(t, 76, "stale")
	check("42").wants(t, 0)
	if r := run(t, mutex(t, nil, "fence", "show", file)).wants(t, 0); r.out != "42\n" {
		t.Errorf("%q", r.out)
	}
	if err := os.WriteFile(file, []byte("?"), 0o600); err != nil {
		t.Fatal(err)
	}
	check("43").wants(t, 1, "holds no fence")
}

func TestFenceCommandsSayWhatIsMissing(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state.fence")
	for want, args := range map[string][]string{
		"which command":    {"guard", "--file", file, "1"},
		"which file":       {"guard", "1", "--", "true"},
		"which fence":      {"guard", "--file", file, "--", "true"},
		"is not a fence":   {"guard", "--file", file, "x", "--", "true"},
		"is not one fence": {"guard", "--file", file, "1", "2", "--", "true"},
		"it has check":     {},
		"which fence? ":    {"check", file},
		"whole number":     {"check", file, "0"},
	} {
		r := run(t, mutex(t, nil, append([]string{"fence"}, args...)...)).wants(t, 2)
		if !strings.Contains(strings.ToLower(r.err), want) {
			t.Errorf("%q said %q", args, r.err)
		}
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("wrong usage made a file")
	}
}
