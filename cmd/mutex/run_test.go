package main

import (
	"os"
	"strings"
	"testing"
)

func TestRunPassesTheExitCodeOn(t *testing.T) {
	s := startServer(t)
	for _, code := range []string{"0", "1", "2", "75", "126", "127", "128", "255"} {
		want := map[string]int{"0": 0, "1": 1, "2": 2, "75": 75, "126": 126, "127": 127, "128": 128, "255": 255}[code]
		s.mutex("run", "t", "--", "sh", "-c", "exit "+code).wants(t, want)
	}
	s.mutex("run", "t", "--", "sh", "-c", "kill -TERM $$").wants(t, 143)
	s.mutex("run", "t", "--", "no-such-program-here").wants(t, 127, "no-such-program-here")
	s.mutex("run", "t", "--", "/etc/passwd").wants(t, 126)
	s.mutex("status", "t", "--exit-code").wants(t, 3)
}

func TestRunTellsTheCommandWhatItHolds(t *testing.T) {
	s := startServer(t)
	show := []string{"--", "sh", "-c", "echo $MUTEX_TOPIC/$MUTEX_FENCE/$MUTEX_SLOT/${#MUTEX_LEASE}/$MUTEX_URL"}
	r := s.mutex(append([]string{"run", "b", "a"}, show...)...).wants(t, 0)
	if want := "b,a/1,1/0,0/65/" + s.url + "\n"; r.out != want {
		t.Errorf("printed %q, want %q", r.out, want)
	}
	vars := append(s.vars(), "MUTEX_LEASE=outer")
	r = run(t, mutex(t, vars, append([]string{"run", "a", "--no-export-lease"}, show...)...)).wants(t, 0)
	if want := "a/2/0/0/" + s.url + "\n"; r.out != want {
		t.Errorf("printed %q, want %q", r.out, want)
	}
	url := s.url // given by a flag, it reaches the command all the same
	r = run(t, mutex(t, nil, append([]string{"run", "--url", url, "a"}, show...)...)).wants(t, 0)
	if !strings.HasSuffix(r.out, "/"+url+"\n") {
		t.Errorf("printed %q", r.out)
	}
}

// TestACommandUsesEachOfItsLeases by the name of its topic.
func TestACommandUsesEachOfItsLeases(t *testing.T) {
	s := startServer(t)
	script := "set -e; for topic in a b; do mutex check $topic; mutex renew $topic; done; mutex release b; ! mutex check b; mutex check c"
	r := s.mutex("run", "b", "a", "--", "sh", "-c", strings.ReplaceAll(script, "mutex", os.Args[0]))
	r.wants(t, 2, "MUTEX_LEASE: the leases in it are on b, a, not on c", "the lease is gone")
}

func TestRunOfABusyTopic(t *testing.T) {
	s := startServer(t)
	s.grantFile("b")
	mark := t.TempDir() + "/ran"
	command := []string{"--", "touch", mark}
	for flags, code := range map[string]int{"": 1, "--busy-exit 42": 42, "--if-busy skip": 0, "--busy-exit 0": 0} {
		args := append([]string{"run", "a", "b", "--wait", "0"}, strings.Fields(flags)...)
		s.mutex(append(args, command...)...).wants(t, code)
		s.mutex("status", "a", "--exit-code").wants(t, 3) // all or none
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("the command was started without its leases")
	}
}

func TestRunEndsWhenAnyOfItsLeasesIsLost(t *testing.T) {
	s := startServer(t)
	dir := t.TempDir()
	end := begin(t, mutex(t, s.vars(), "run", "a", "b", "--ttl", "2", "--on-lost", "touch "+dir+"/hook", "--events", dir+"/events",
		"--", "sh", "-c", "touch "+dir+"/up; exec sleep 60"))
	eventually(t, "the command runs", func() bool { _, err := os.Stat(dir + "/up"); return err == nil })
	s.mutex("force-release", "b", "--yes").wants(t, 0)
	end().wants(t, 75, "lease lost: b: the lease is gone; ending the command\n")
	s.mutex("status", "a", "--exit-code").wants(t, 3)
	if _, err := os.Stat(dir + "/hook"); err != nil {
		t.Error("the hook did not run")
	}
	events, err := os.ReadFile(dir + "/events")
	for _, kind := range []string{"acquired", "lost", "exited"} {
		if err != nil || !strings.Contains(string(events), `"`+kind+`"`) {
			t.Errorf("no %s among the events (%v):\n%s", kind, err, events)
		}
	}
}

func TestMaxHold(t *testing.T) {
	s := startServer(t)
	s.mutex("run", "t", "--max-hold", "0.3", "--", "sleep", "60").wants(t, 75)
	s.mutex("status", "t", "--exit-code").wants(t, 3)
}

// TestARunDoesNotWaitForItself where that is certain; where it may wait for another, or for a run that is about to end, it does.
func TestARunDoesNotWaitForItself(t *testing.T) {
	s := startServer(t)
	other := startServer(t)
	in := func(outer, script string) result {
		return s.mutex(append(append([]string{"run"}, strings.Fields(outer)...), "--", "sh", "-c", strings.ReplaceAll(script, "mutex", os.Args[0]))...)
	}
	in("t", `mutex run t -- true`).wants(t, 1, "this already runs under t (fence 1): it would wait for itself")
	in("t", `mutex acquire t`).wants(t, 1, "wait for itself")
	in("a t", `mutex run t -- true`).wants(t, 1, "wait for itself")
	in("t", `mutex run t --if-busy skip -- false`).wants(t, 0, "skipped")
	in("t", `mutex run another -- true`).wants(t, 0)
	in("t", `mutex run t --url `+other.url+` -- true`).wants(t, 0)
	in("two --capacity 2", `mutex run two -- true`).wants(t, 0)
	in("t", `mutex release t && mutex run t -- true`).wants(t, 0)
	in("t --no-export-lease", `mutex run t --wait 0 -- true`).wants(t, 1, "t is not free")
}

// TestNestedRuns: each sees its own lease.
func TestNestedRuns(t *testing.T) {
	s := startServer(t)
	inner := os.Args[0] + ` run inner -- sh -c 'echo $MUTEX_TOPIC $MUTEX_LEASE'; echo $MUTEX_TOPIC $MUTEX_LEASE`
	r := s.mutex("run", "outer", "--", "sh", "-c", inner).wants(t, 0)
	words := strings.Fields(r.out)
	if len(words) != 4 || words[0] != "inner" || words[2] != "outer" || words[1] == words[3] {
		t.Errorf("printed %q", r.out)
	}
}
