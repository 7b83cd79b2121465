package main

import (
	"io/fs"
	"os"
	"os/exec"
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

// TestTheExampleOfAcquire is a script that does what whoever copies it must want: the work runs only under a lease, its exit code
// comes out, the lease is given back even if it failed, and nobody else can read it.
func TestTheExampleOfAcquire(t *testing.T) {
	s := startServer(t)
	help := s.mutex("help", "acquire").wants(t, 0).out
	script := regexp.MustCompile(`(?s)\n  (\(umask.*?exit \$code)\n`).FindStringSubmatch(help)
	if script == nil || !strings.Contains(help, "mutex run deploy:staging -- ./deploy.sh") {
		t.Fatal(help)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"mutex": "exec " + os.Args[0] + ` "$@"`, "deploy.sh": "touch ran; exit 7"} {
		if err := os.WriteFile(dir+"/"+name, []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	again := func(shell string) result {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", shell)
		cmd.Dir, cmd.Env = dir, append(environ(t, s.vars()), "PATH="+dir+":"+os.Getenv("PATH"))
		return run(t, cmd)
	}
	again(script[1]).wants(t, 7)
	info, err := os.Stat(dir + "/grant.json")
	if err != nil || info.Mode()&fs.ModePerm != 0o600 {
		t.Errorf("the grant: %v, %v", info, err)
	}
	if err := os.Remove(dir + "/ran"); err != nil {
		t.Fatal(err)
	}
	if state, _ := s.status("deploy:staging"); state != "free" {
		t.Error("it is", state)
	}
	s.grantFile("deploy:staging")
	again(strings.Replace(script[1], "--ttl", "--wait 0 --ttl", 1)).wants(t, 1, "is not free")
	if _, err := os.Stat(dir + "/ran"); err == nil {
		t.Error("it worked without a lease")
	}
}
