package main

import (
	"os"
	"strings"
	"testing"
)

func TestRunForwardsTheCommandsCode(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	for script, code := range map[string]int{"exit 0": 0, "exit 3": 3, "exit 255": 255, "kill -TERM $$": 143, "kill -KILL $$": 137} {
		b.run("run", "k", "--", "sh", "-c", script).wants(code)
	}
	b.run("run", "k", "--", "no-such-program").wants(127, "no-such-program")
	b.run("run", "k", "--", "/").wants(127)
	if b.held("k") {
		t.Error("it is still held")
	}
	b.token("other")
	b.run("run", "--no-wait", "other", "--", "true").wants(10)
	b.run("run", "--timeout", "0.05", "other", "--", "true").wants(11)
}

func TestWhatACommandSeesOfItsLease(t *testing.T) {
	t.Parallel()
	b := newBox(t).with("AGENTMUTEX_TOKEN=outer")
	show := `echo "$AGENTMUTEX_LEASE_KEY $AGENTMUTEX_DIR $AGENTMUTEX_FENCE [$AGENTMUTEX_TOKEN]"`
	b.run("run", "k", "--", "sh", "-c", show).wants(0).prints("k " + b.dir + " 1 []\n")
	r := b.run("run", "--export-token", "k", "--", "sh", "-c", show+`; "$SELF" check k`).wants(0).prints("k " + b.dir + " 2 [")
	if strings.Contains(r.out, "[]") || strings.Contains(r.out, "outer") {
		t.Errorf("exported: %q", r.out)
	}
}

// TestItDoesNotWaitForItself also not through another key's run.
func TestItDoesNotWaitForItself(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.run("run", "k", "--", "sh", "-c", `"$SELF" run k -- true`).wants(10, "wait for itself")
	b.run("run", "k", "--", "sh", "-c", `"$SELF" acquire k`).wants(10, "wait for itself")
	b.run("run", "k", "--", "sh", "-c", `"$SELF" run other -- "$SELF" run k -- true`).wants(10, "wait for itself")
	b.run("run", "k", "--", "sh", "-c", `"$SELF" run other -- true`).wants(0)
	b.run("run", "k", "--", "sh", "-c", `"$SELF" --dir "$HOME/else" run k -- true`).wants(0)
}

// TestRunTakesBackWhatWasCleared by somebody who then did not take it.
func TestRunTakesBackWhatWasCleared(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	done := t.TempDir() + "/done"
	runner := b.command("run", "--ttl", "5", "k", "--", "sh", "-c", `while [ ! -e `+done+` ]; do sleep 0.05; done; exit 5`)
	if err := runner.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is held", func() bool { return b.held("k") })
	b.run("force-release", "--yes", "--agent", "boss", "k").wants(0)
	eventually(t, "it is taken back", func() bool { return b.held("k") })
	if err := os.WriteFile(done, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _ = runner.Wait(); runner.ProcessState.ExitCode() != 5 {
		t.Errorf("exit %d", runner.ProcessState.ExitCode())
	}
	var events []map[string]any
	b.run("history", "--json", "k").wants(0).json(&events)
	var kinds []string
	for _, e := range events {
		kinds = append(kinds, e["event"].(string))
	}
	if got := strings.Join(kinds, " "); got != "released reclaimed force-released acquired" {
		t.Errorf("history: %s", got)
	}
	if detail := events[1]["detail"]; !strings.HasPrefix(detail.(string), "fence 2") {
		t.Errorf("taken back with %v", detail)
	}
}

// TestRunEndsWhenAnotherHoldsItsKey: the whole tree goes, and nothing of what the other holds.
func TestRunEndsWhenAnotherHoldsItsKey(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	pid := t.TempDir() + "/pid"
	runner := b.command("run", "--ttl", "5", "k", "--", "sh", "-c", `sleep 600 & echo $! > `+pid+`; wait`)
	if err := runner.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it runs", func() bool { text, err := os.ReadFile(pid); return err == nil && len(text) > 1 })
	b.run("force-release", "--yes", "k").wants(0)
	token := b.token("--no-wait", "k")
	if _ = runner.Wait(); runner.ProcessState.ExitCode() != 14 {
		t.Errorf("exit %d", runner.ProcessState.ExitCode())
	}
	text, err := os.ReadFile(pid)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the grandchild is gone", func() bool {
		return finish(t, shell(t, "kill -0 "+strings.TrimSpace(string(text)))).code != 0
	})
	b.run("check", "--token", token, "k").wants(0)
}

func TestMaxHold(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.run("run", "--max-hold", "0.2", "k", "--", "sleep", "60").wants(14)
	if b.held("k") {
		t.Error("it is still held")
	}
}
