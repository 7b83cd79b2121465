package supervise_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"legible.sh/mutex/internal/supervise"
)

func TestEveryExitCodePassesThrough(t *testing.T) {
	t.Parallel()
	s := start(t, order{Special: "many"})
	if code := s.wait(); code != 0 {
		t.Fatalf("see stderr; exit %d", code)
	}
}

func TestASignalThatEndedTheCommandIsItsCode(t *testing.T) {
	t.Parallel()
	for _, sig := range []string{"HUP", "INT", "QUIT", "KILL", "USR1", "SEGV", "TERM"} {
		s := start(t, order{Argv: script("kill -" + sig + " $$")})
		want := 128 + int(signalNamed(t, sig))
		if code := s.wait(); code != want {
			t.Errorf("%s: exit %d, want %d", sig, code, want)
		}
		if len(s.logged("released")) != 1 {
			t.Errorf("%s: not released", sig)
		}
	}
}

func signalNamed(t *testing.T, name string) syscall.Signal {
	t.Helper()
	sig, ok := map[string]syscall.Signal{
		"HUP": syscall.SIGHUP, "INT": syscall.SIGINT, "QUIT": syscall.SIGQUIT, "KILL": syscall.SIGKILL,
		"USR1": syscall.SIGUSR1, "USR2": syscall.SIGUSR2, "SEGV": syscall.SIGSEGV, "TERM": syscall.SIGTERM,
	}[name]
	if !ok {
		t.Fatalf("no signal %s", name)
	}
	return sig
}

func TestWhatCannotStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, []byte("not a program"), 0o644); err != nil {
		t.Fatal(err)
	}
	noFormat := filepath.Join(dir, "noformat")
	if err := os.WriteFile(noFormat, []byte("not a program"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		program string
		code    int
	}{
		{"no-such-program-anywhere", 127}, {filepath.Join(dir, "none"), 127},
		{plain, 126}, {dir, 126}, {noFormat, 126},
	} {
		s := start(t, order{Argv: []string{c.program}})
		if code := s.wait(); code != c.code {
			t.Errorf("%s: exit %d, want %d", c.program, code, c.code)
		}
		if o := s.outcome(); o.Cause != supervise.CauseStart || !strings.Contains(o.Start, c.program) {
			t.Errorf("%s: %+v", c.program, o)
		}
		if !strings.Contains(s.read("stderr"), "cannot run") {
			t.Errorf("%s: stderr %q", c.program, s.read("stderr"))
		}
		if len(s.logged("released")) != 1 {
			t.Errorf("%s: the lease was not released", c.program)
		}
	}
}

func TestTheCommandHasOurOwnFiles(t *testing.T) {
	t.Parallel()
	s := command(t, order{Argv: script("cat; echo words >&2")})
	in := filepath.Join(s.dir, "in")
	if err := os.WriteFile(in, []byte("what stdin holds"), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(in)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	s.cmd.Stdin = file
	s.begin()
	if code := s.wait(); code != 0 || s.read("stdout") != "what stdin holds" || s.read("stderr") != "words\n" {
		t.Fatalf("exit %d, stdout %q, stderr %q", code, s.read("stdout"), s.read("stderr"))
	}
}

func TestTheLaterOfTwoEqualNamesWins(t *testing.T) {
	t.Parallel()
	s := command(t, order{Argv: script("env | grep -c ^DIR=; printf %s \"$DIR\"")})
	s.cmd.Env = append(s.cmd.Env, "DIR=outer")
	s.begin()
	if code := s.wait(); code != 0 || s.read("stdout") != "1\n"+s.dir {
		t.Fatalf("exit %d, stdout %q", code, s.read("stdout"))
	}
}
