package supervise

import (
	"os"
	"testing"
)

func TestANameInProcMayHoldAnything(t *testing.T) {
	line := "42 (a) R (b) S 7 8 9 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 12345 0 0"
	s, ok := parseStat(42, []byte(line))
	if !ok || s.name != "a) R (b" || s.ppid != 7 || s.group != 8 || s.session != 9 || s.start != 12345 || s.zombie {
		t.Errorf("%+v %v", s, ok)
	}
	for _, bad := range []string{"", "42", "42 (x", "42 (x) S 1", ")(", "42 (x) "} {
		if _, ok := parseStat(42, []byte(bad)); ok {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestAZombieLivesAsLongAsItsThreads(t *testing.T) {
	for threads, zombie := range map[string]bool{"1": true, "2": false} {
		line := "42 (x) Z 7 8 9 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 " + threads + " 0 12345 0 0"
		if s, _ := parseStat(42, []byte(line)); s.zombie != zombie {
			t.Errorf("%s threads: zombie %v", threads, s.zombie)
		}
	}
}

func TestOurOwnStat(t *testing.T) {
	s, ok := readStat(os.Getpid())
	if !ok || s.ppid != os.Getppid() || s.start == 0 || s.zombie {
		t.Errorf("%+v %v", s, ok)
	}
	if !procIsOurs() {
		t.Error("our own /proc is not trusted")
	}
}

func TestANameCannotDisturbATerminal(t *testing.T) {
	p := Process{PID: 7, Name: "a\x1b[31m\u009bb\n"}
	if got := p.String(); got != "7 (a?[31m?b?)" {
		t.Errorf("%q", got)
	}
}
