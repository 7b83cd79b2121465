package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestTheLifeOfALease(t *testing.T) {
	s := startServer(t)
	file, lease := s.grantFile("deploy:staging", "--ttl", "20m", "--name", "worker-3", "--reason", "release 1.8")
	if state, _ := s.status("deploy:staging"); state != "held" {
		t.Error("state:", state)
	}
	s.mutex("status", "deploy:staging", "--exit-code").wants(t, 0)
	s.mutex("check", "deploy:staging", "--lease-file", file).wants(t, 0)
	r := s.mutex("renew", "deploy:staging", lease, "--ttl", "0.5m").wants(t, 0)
	if field(t, r.out, "ttl") != "30" {
		t.Error(r.out)
	}
	r = s.mutex("acquire", "deploy:staging", "--wait", "0").wants(t, 1, "held by worker-3")
	if r.out != "" {
		t.Error("printed", r.out)
	}
	s.mutex("acquire", "deploy:staging", "--wait", "0.2").wants(t, 1, "within")
	s.mutex("acquire", "deploy:staging", "--capacity", "2", "--wait", "0").wants(t, 1, "capacity")
	s.mutex("release", "deploy:staging", "--lease-file", file).wants(t, 0)
	s.mutex("release", "deploy:staging", "--lease-file", file).wants(t, 1, "lease")
	s.mutex("renew", "deploy:staging", lease).wants(t, 1)
	s.mutex("check", "deploy:staging", lease).wants(t, 1)
	s.mutex("status", "deploy:staging", "--exit-code").wants(t, 3)
}

func TestTheLeaseFromStdinAndTheEnvironment(t *testing.T) {
	s := startServer(t)
	_, lease := s.grantFile("t")
	piped := mutex(t, s.vars(), "check", "t", "-")
	piped.Stdin = strings.NewReader(lease + "\n")
	run(t, piped).wants(t, 0)
	run(t, mutex(t, append(s.vars(), "MUTEX_LEASE="+lease), "release", "t")).wants(t, 0)
}

func TestUsageIsTwo(t *testing.T) {
	s := startServer(t)
	for _, args := range []string{
		"acquire", "acquire a/b", "acquire t --ttl 0", "acquire t --ttl 2h", "acquire t --capacity 5000", "renew t xyz",
		"status t --no-such", "frobnicate", "serve --port x", "serve extra", "run t", "version x",
	} {
		r := s.mutex(strings.Fields(args)...).wants(t, 2)
		if r.out != "" || r.err == "" {
			t.Errorf("%s printed %q, said %q", args, r.out, r.err)
		}
	}
}

// TestTheFirstSlips: what people try before they have read anything.
func TestTheFirstSlips(t *testing.T) {
	s := startServer(t)
	_, port, _ := strings.Cut(strings.TrimPrefix(s.url, "http://"), ":")
	s.mutex("serve", "--port", port).wants(t, 1, "already in use", "--port takes another")
	s.mutex("fence", "check").wants(t, 2, "something is missing", "FILE|URL")
	if asked, verb := s.mutex("--version").wants(t, 0), s.mutex("version").wants(t, 0); asked.out != verb.out {
		t.Errorf("--version prints %q, version %q", asked.out, verb.out)
	}
	_, lease := s.grantFile("t", "--capacity", "2")
	s.mutex("acquire", "t", "--capacity", "3", "--wait", "0").wants(t, 1, "capacity=2")
	s.mutex("release", "t", lease).wants(t, 0)
	if r := s.mutex("release", "t", lease).wants(t, 1); strings.Count(r.err, "is gone") != 1 ||
		!strings.Contains(r.err, "had ended before it was released") || strings.Contains(strings.ToLower(r.err), "stop the work") {
		t.Error("said", r.err)
	}
	s.mutex("renew", "t", lease).wants(t, 1, "the lease is gone\n", "stop the work at once")
	r := s.mutex("release", "t", "t2").wants(t, 2, "the argument after the topic: that is not a lease", "Usage: mutex release TOPIC [LEASE|-]")
	if strings.Contains(r.err, "X-Lease") {
		t.Error("spoke of a header:", r.err)
	}
	run(t, mutex(t, append(s.vars(), "MUTEX_LEASE=x"), "renew", "t")).wants(t, 2, "MUTEX_LEASE: that is not a lease")
}

func TestAdministration(t *testing.T) {
	s := startServer(t)
	s.grantFile("a:1", "--name", "one", "--reason", "x")
	s.grantFile("b:1")
	if r := s.mutex("list", "--prefix", "a:").wants(t, 0); !strings.Contains(r.out, `"a:1"`) || strings.Contains(r.out, `"b:1"`) {
		t.Error(r.out)
	}
	if r := s.mutex("force-release", "a:1").wants(t, 0); !strings.Contains(r.out, `"dry_run": true`) || !strings.Contains(r.out, `"one"`) {
		t.Error(r.out)
	}
	s.mutex("status", "a:1", "--exit-code").wants(t, 0)
	s.mutex("force-release", "a:1", "--yes", "--fence", "99").wants(t, 0)
	s.mutex("status", "a:1", "--exit-code").wants(t, 0)
	s.mutex("force-release", "a:1", "--yes", "--fence", "1", "--reason", "why").wants(t, 0)
	s.mutex("status", "a:1", "--exit-code").wants(t, 3)
	if r := s.mutex("history", "a:1").wants(t, 0); !strings.Contains(r.out, `"by": "(why)"`) {
		t.Error("a reason without a name:", r.out)
	}
	if r := s.mutex("prune").wants(t, 0); field(t, r.out, "remaining") == "" {
		t.Error(r.out)
	}
	stranger := []string{"MUTEX_URL=" + s.url}
	run(t, mutex(t, stranger, "list")).wants(t, 1, "token")
	run(t, mutex(t, stranger, "force-release", "b:1", "--yes")).wants(t, 1, "token")
	s.mutex("status", "b:1", "--exit-code").wants(t, 0)
}

func TestTokens(t *testing.T) {
	dir := t.TempDir()
	secret, open := filepath.Join(dir, "secret"), filepath.Join(dir, "open")
	write(t, secret, "t0ken-1\n", 0o600)
	write(t, open, "t0ken-1\n", 0o644)
	s := startServer(t, "--token-file", secret)
	s.mutex("acquire", "t").wants(t, 1, "--token-file")
	s.mutex("status", "t").wants(t, 0)
	s.mutex("acquire", "t", "--token-file", secret).wants(t, 0)
	s.mutex("acquire", "t2", "--token-file", open).wants(t, 1, "chmod 600")
	s.mutex("acquire", "t2", "--token-file", dir+"/none").wants(t, 1, "--token-file: ", "no such file")
	run(t, mutex(t, append(s.vars(), "MUTEX_TOKEN_FILE="+dir+"/none"), "acquire", "t2")).wants(t, 1, "MUTEX_TOKEN_FILE: ")
	s.mutex("acquire", "t2", "--token", "t0ken-1").wants(t, 0)
	run(t, mutex(t, append(s.vars(), "MUTEX_TOKEN=t0ken-1"), "acquire", "t3")).wants(t, 0)
	r := run(t, mutex(t, append(s.vars(), "MUTEX_TOKEN=wr0ng"), "acquire", "t4")).wants(t, 1)
	if strings.Contains(r.err, "wr0ng") {
		t.Error("showed the token:", r.err)
	}
}

func TestToken(t *testing.T) {
	r := run(t, mutex(t, nil, "token")).wants(t, 0)
	words := strings.Fields(r.out)
	if len(words) != 2 || len(words[0]) < 40 || !strings.HasPrefix(words[1], "sha256:") {
		t.Errorf("printed %q", r.out)
	}
}

func TestPolicyCheck(t *testing.T) {
	good, bad := filepath.Join(t.TempDir(), "good"), filepath.Join(t.TempDir(), "bad")
	write(t, good, "rules: []\n", 0o600)
	write(t, bad, "rules:\n  - topic: a\n    reed: anyone\n", 0o600)
	run(t, mutex(t, nil, "policy", "check", good)).wants(t, 0)
	run(t, mutex(t, nil, "policy", "check", bad)).wants(t, 1, "3")
	run(t, mutex(t, nil, "policy", "check")).wants(t, 2)
	run(t, mutex(t, nil, "policy", "chek", good)).wants(t, 2, "check")
	run(t, mutex(t, nil, "policy")).wants(t, 2)
}

func TestJournalCheckAndRepair(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "mutex.jsonl")
	good := `{"t":"topic","topic":"a","capacity":1,"fence":7}` + "\n"
	write(t, file, good, 0o600)
	run(t, mutex(t, nil, "journal", "check", dir)).wants(t, 0)
	run(t, mutex(t, nil, "journal", "repair", dir)).wants(t, 0)
	write(t, file, good+"{garbage}\n"+good, 0o600)
	if r := run(t, mutex(t, nil, "journal", "check", dir)).wants(t, 1, "repair"); !strings.Contains(r.out, "line 2") {
		t.Error(r.out)
	}
	run(t, mutex(t, nil, "journal", "repair", dir)).wants(t, 0)
	run(t, mutex(t, nil, "journal", "check", dir)).wants(t, 0)
	run(t, mutex(t, nil, "journal", "check", filepath.Join(dir, "none"))).wants(t, 1)
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func TestUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mutex.sock")
	s := startServer(t)
	s.stop()
	s.args = []string{"serve", "--listen", "unix:" + path}
	s.url = "unix://" + path
	s.start()
	s.mutex("run", "t", "--", "true").wants(t, 0)
	s.mutex("list").wants(t, 0)
	s.stop()
	s.mutex("status", "t").wants(t, 1, "unix://"+path, "mutex serve --listen unix:"+path)
}

// TestADeadServer: which URL was tried, why it failed, and how to start one.
func TestADeadServer(t *testing.T) {
	s := startServer(t)
	s.stop()
	lease := strings.Repeat("a", 32)
	ends := map[string]func() result{} // they try for some seconds, so all at once
	codes := map[string]int{
		"acquire t --wait 0": 1, "acquire t --wait 0.1": 1, "release t " + lease: 1, "renew t " + lease: 1, "check t " + lease: 3,
		"status t --exit-code": 5, "list": 1, "wait t": 1, "run t --wait 0 -- true": 1,
	}
	for args := range codes {
		ends[args] = begin(t, mutex(t, s.vars(), strings.Fields(args)...))
	}
	for args, end := range ends {
		if r := end().wants(t, codes[args], s.url, "connection refused", "mutex serve"); r.out != "" {
			t.Errorf("%s printed %q", args, r.out)
		}
	}
}

// TestTheDefaultURLIsSaid. A proxy that is not there keeps the request on this machine.
func TestTheDefaultURLIsSaid(t *testing.T) {
	vars := []string{"HTTPS_PROXY=http://127.0.0.1:1"}
	run(t, mutex(t, vars, "status", "t")).wants(t, 1, "using "+defaultURL, "MUTEX_URL")
	r := run(t, mutex(t, vars, "status", "t", "--url", "http://127.0.0.1:1")).wants(t, 1)
	if strings.Contains(r.err, defaultURL) {
		t.Error("said the default although it was not used:", r.err)
	}
}

func TestASignalLeavesTheQueue(t *testing.T) {
	s := startServer(t)
	s.grantFile("t")
	for verb, sig := range map[string]syscall.Signal{"acquire": syscall.SIGINT, "run": syscall.SIGTERM} {
		args := []string{verb, "t"}
		if verb == "run" {
			args = append(args, "--", "true")
		}
		cmd := mutex(t, s.vars(), args...)
		end := begin(t, cmd)
		eventually(t, "it queues", func() bool { _, n := s.status("t"); return n == 1 })
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		if r := end().wants(t, 128+int(sig)); r.out != "" {
			t.Error("printed", r.out)
		}
		eventually(t, "it has left", func() bool { _, n := s.status("t"); return n == 0 })
	}
}

func TestWaitReturnsWhenALeaseEnds(t *testing.T) {
	s := startServer(t)
	file, _ := s.grantFile("t", "--capacity", "2")
	s.grantFile("t", "--ttl", "5m")
	s.mutex("wait", "t", "--timeout", "0.2").wants(t, 11)
	cmd := mutex(t, s.vars(), "wait", "t")
	end := begin(t, cmd)
	ended := make(chan result, 1)
	go func() { ended <- end() }()
	for { // it claims nothing and cannot be seen from outside, so leases end until it has seen one do so
		s.mutex("release", "t", "--lease-file", file).wants(t, 0)
		select {
		case r := <-ended:
			if r.wants(t, 0); !strings.Contains(r.out, `"held"`) {
				t.Error(r.out)
			}
			s.mutex("wait", "free").wants(t, 0)
			return
		default:
			file, _ = s.grantFile("t")
		}
	}
}

// TestTheAdminTokenIsFoundByItself by the user whose server it is, and by nobody else.
func TestTheAdminTokenIsFoundByItself(t *testing.T) {
	home := "HOME=" + t.TempDir()
	s := startServer(t)
	s.stop()
	s.env = []string{home}
	s.start()
	here := "MUTEX_URL=" + s.url
	run(t, mutex(t, []string{here, home}, "list")).wants(t, 0)
	run(t, mutex(t, []string{"MUTEX_URL=" + strings.Replace(s.url, "127.0.0.1", "localhost", 1), home}, "prune")).wants(t, 0)
	run(t, mutex(t, []string{here}, "list")).wants(t, 1, "token")
}
