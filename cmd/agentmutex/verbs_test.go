package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

func TestTheTokenAlone(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	r := b.run("acquire", "--ttl", "20m", "--reason", "why", "deploy").wants(0)
	if !regexp.MustCompile(`^[0-9a-f]{32}\n$`).MatchString(r.out) || r.err != "" {
		t.Fatalf("printed %q, said %q", r.out, r.err)
	}
	token := strings.TrimSpace(r.out)
	owner := b.with("AGENTMUTEX_TOKEN=" + token)
	owner.run("check", "deploy").wants(0)
	owner.run("renew", "--ttl", "90", "deploy").wants(0)
	b.run("renew", "--token", token, "deploy").wants(0)
	b.run("acquire", "--no-wait", "deploy").wants(10, "held by tester")
	b.run("acquire", "--timeout", "0.05", "deploy").wants(11, "tester")
	b.run("release", "--token", strings.Repeat("0", 32), "deploy").wants(12, "tester")
	b.run("renew", "--token", "nonsense", "deploy").wants(12)
	b.run("release", "deploy").wants(2, "AGENTMUTEX_TOKEN")
	owner.run("release", "deploy").wants(0)
	owner.run("release", "deploy").wants(13)
	owner.run("renew", "deploy").wants(13)
	owner.run("release", "never-used").wants(13)
}

func TestTokenFile(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	file := b.t.TempDir() + "/token"
	r := b.run("acquire", "--json", "k").wants(0)
	if err := os.WriteFile(file, []byte(r.out), 0o600); err != nil {
		t.Fatal(err)
	}
	b.run("renew", "--token-file", file, "k").wants(0)
	stdin := b.command("release", "--token-file", "-", "k")
	stdin.Stdin = strings.NewReader(r.out)
	finish(t, stdin).wants(0)
}

func TestAliases(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	token := strings.TrimSpace(b.run("lock", "k").wants(0).out)
	b.run("ls").wants(0).prints("k", "held")
	b.run("unlock", "--token", token, "k").wants(0)
	b.run("log").wants(0).prints("acquired", "released")
	b.run("version").wants(0).prints("agentmutex ")
	b.run("completion", "bash").wants(0).prints("agentmutex")
}

func TestWrongUsage(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	for _, args := range [][]string{
		{"acquire"},
		{"acquire", "k", "--ttl", "5"},
		{"acquire", "a b"},
		{"acquire", "-k"},
		{"acquire", "--ttl", "never", "k"},
		{"acquire", "--ttl", "0", "k"},
		{"acquire", "--nonsense", "k"},
		{"run", "k"},
		{"run", "k", "--"},
		{"run", "k", "true"},
		{"run", "--ttl", "4", "k", "--", "true"},
		{"run", "k", "--ttl", "20", "--", "true"},
		{"run", "--on-lease-loss", "shrug", "k", "--", "true"},
		{"release", "k", "--token", "x"},
		{"status"},
		{"history", "--since", "whenever"},
		{"dance"},
	} {
		if r := b.run(args...).wants(2); r.out != "" {
			t.Errorf("%v printed %q", args, r.out)
		}
	}
	if _, err := os.Stat(b.dir); err == nil {
		t.Error("a wrong command line made the directory")
	}
}

type statusShape struct {
	Key     string
	State   string
	Holder  map[string]any
	Waiters []map[string]any
	Error   *string
}

func TestStatusInJSON(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	var s statusShape
	b.run("status", "--json", "k").wants(0).prints(`  "state": "free",`, `"holder": null`, `"waiters": []`, `"error": ""`).json(&s)
	var g struct {
		statusShape
		Token string
		Fence int64
	}
	b.run("acquire", "--json", "--ttl", "60", "--reason", "why", "k").wants(0).json(&g)
	if len(g.Token) != 32 || g.Fence != 1 || g.State != "held" || g.Key != "k" {
		t.Errorf("grant: %+v", g)
	}
	waiter := b.with("AGENTMUTEX_AGENT=second").command("acquire", "k")
	if err := waiter.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = waiter.Process.Kill(); _ = waiter.Wait() }()
	eventually(t, "it waits", func() bool { return b.waiting("k") == 1 })
	b.run("status", "--json", "k").wants(0).json(&s)
	for _, name := range []string{"agent", "pid", "host", "reason", "acquired_at", "expires_at", "renewed_at", "fence", "lease_id"} {
		if _, there := s.Holder[name]; !there {
			t.Errorf("holder without %s", name)
		}
	}
	if s.Holder["agent"] != "tester" || s.Holder["reason"] != "why" || s.Holder["renewed_at"] != nil || s.Holder["fence"] != 1.0 {
		t.Errorf("holder: %v", s.Holder)
	}
	if at, _ := s.Holder["acquired_at"].(string); !regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`).MatchString(at) {
		t.Errorf("acquired_at is %q", at)
	}
	if pid, _ := s.Holder["pid"].(float64); int(pid) != os.Getpid() {
		t.Errorf("the holder of what acquire took is %v, not the process that started it", pid)
	}
	w := s.Waiters[0]
	if w["agent"] != "second" || w["fresh"] != true || w["enqueued_at"] == nil {
		t.Errorf("waiter: %v", w)
	}
	b.run("status", "k").wants(0).prints("k  held", "tester (pid", "why", "never renewed", "expires   in", "1 waiting", "second")
	var list []statusShape
	b.run("list", "--json").wants(0).json(&list)
	if len(list) != 1 || list[0].Key != "k" || list[0].State != "held" {
		t.Errorf("list: %+v", list)
	}
	head := strings.Fields(strings.SplitN(b.run("list").wants(0).out, "\n", 2)[0])
	if got := strings.Join(head, " "); got != "KEY STATE HOLDER EXPIRES HELD-FOR WAITERS REASON" {
		t.Errorf("head: %s", got)
	}
	b.with("AGENTMUTEX_TOKEN="+g.Token).run("renew", "--json", "k").wants(0).prints(`"renewed_at": "20`)
}

func TestStatesByExitCode(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.run("status", "--exit-code", "k").wants(3)
	b.run("wait", "k").wants(0)
	b.token("--ttl", "0.3", "k")
	b.run("status", "--exit-code", "k").wants(0)
	b.run("wait", "--timeout", "0.02", "k").wants(11)
	b.run("wait", "k").wants(0).prints("expired")
	b.run("status", "--exit-code", "k").wants(4).prints("expired", "look first")
	b.run("prune", "--json").wants(0).prints(`"pruned": 1`)
	b.run("status", "--exit-code", "k").wants(3)

	b.token("k")
	if err := os.WriteFile(b.holder("k"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.run("status", "--exit-code", "k").wants(5).prints("corrupt", "force-release")
	b.run("wait", "k").wants(1)
	b.run("acquire", "k").wants(1, "corrupt", "force-release")
	b.run("list").wants(0).prints("corrupt")
	b.run("prune").wants(0)
	b.run("force-release", "k").wants(0).prints("would be")
	b.run("status", "--exit-code", "k").wants(5)
	b.run("force-release", "--yes", "k").wants(0)
	b.run("status", "--exit-code", "k").wants(3)
}

func TestForceRelease(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	token := b.token("k")
	b.run("force-release", "k").wants(0).prints("held by tester", "would be released", "--yes")
	b.run("check", "--token", token, "k").wants(0)
	b.run("force-release", "--yes", "--agent", "boss", "--reason", "it hangs", "k").wants(0)
	b.run("force-release", "--yes", "k").wants(0)
	b.run("renew", "--token", token, "k").wants(13)
	b.run("history", "k").wants(0).prints("force-released", "by boss (pid ", "it hangs")
	if g := b.run("acquire", "--json", "k").wants(0); !strings.Contains(g.out, `"fence": 2`) {
		t.Errorf("after a forced release: %s", g.out)
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.run("history").wants(0)
	token := b.token("--ttl", "60", "a")
	b.run("renew", "--token", token, "a").wants(0)
	b.run("release", "--token", token, "a").wants(0)
	b.token("b")
	var events []map[string]any
	b.run("history", "--json", "a").wants(0).json(&events)
	if len(events) != 2 || events[0]["event"] != "released" || events[1]["event"] != "acquired" {
		t.Fatalf("events: %v", events)
	}
	for _, name := range []string{
		"ts", "key", "event", "lease_id", "agent", "pid", "host", "reason", "ttl_seconds", "held_seconds", "detail",
	} {
		if _, there := events[0][name]; !there {
			t.Errorf("event without %s", name)
		}
	}
	if events[0]["ttl_seconds"] != 60.0 || events[0]["lease_id"] != events[1]["lease_id"] {
		t.Errorf("events: %v", events)
	}
	b.run("history", "--all", "--json").wants(0).json(&events)
	if len(events) != 4 {
		t.Errorf("%d events with renewals and all keys", len(events))
	}
	b.run("history", "--limit", "1", "--json").wants(0).json(&events)
	if len(events) != 1 || events[0]["key"] != "b" {
		t.Errorf("the newest: %v", events)
	}
	b.run("history", "--since", "0.001", "--json").wants(0).json(&events)
	if len(events) != 0 {
		t.Errorf("of the last millisecond: %v", events)
	}
}

func TestAHomeForTheState(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	other := t.TempDir() + "/other"
	b.run("--dir", other, "acquire", "k").wants(0)
	b.run("acquire", "--dir", other, "--no-wait", "k").wants(10)
	b.run("acquire", "--no-wait", "k").wants(0)
	home := t.TempDir()
	b.with("AGENTMUTEX_DIR=", "HOME="+home).run("acquire", "k").wants(0)
	info, err := os.Stat(home + "/.agentmutex")
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	b.with("AGENTMUTEX_DIR=/dev/null").run("status", "k").wants(2, "not a directory")
}

func TestASignalInTheQueue(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.token("k")
	waiter := b.command("run", "k", "--", "sh", "-c", "echo ran")
	out, err := waiter.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := waiter.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it waits", func() bool { return b.waiting("k") == 1 })
	if err := waiter.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	printed := make([]byte, 8)
	n, _ := out.Read(printed)
	if _ = waiter.Wait(); waiter.ProcessState.ExitCode() != 130 || n != 0 {
		t.Errorf("exit %d, printed %q", waiter.ProcessState.ExitCode(), printed[:n])
	}
	if n := b.waiting("k"); n != 0 {
		t.Errorf("%d still wait", n)
	}
}

func TestDurationsHaveUnitsOrAreSeconds(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	for ttl, want := range map[string]float64{"90": 90, "1.5": 1.5, "20m": 1200, "1h30m": 5400, "2d": 172800} {
		key := "k" + strings.ReplaceAll(ttl, ".", "-")
		b.token("--ttl", ttl, key)
		var events []map[string]any
		b.run("history", "--json", key).wants(0).json(&events)
		if events[0]["ttl_seconds"] != want {
			t.Errorf("--ttl %s is %v s", ttl, events[0]["ttl_seconds"])
		}
	}
}
