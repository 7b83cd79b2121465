package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestADirectoryInPlaceOfAServer has mutex's own habits on a directory's keys.
func TestADirectoryInPlaceOfAServer(t *testing.T) {
	url := "file://" + filepath.ToSlash(t.TempDir()) + "/locks"
	here := []string{"MUTEX_URL=" + url}
	r := run(t, mutex(t, here, "acquire", "build/a.b", "--ttl", "5m", "--name", "me")).wants(t, 0)
	lease := field(t, r.out, "lease")
	if field(t, r.out, "topic") != "build/a.b" || field(t, r.out, "fence") != "1" {
		t.Error(r.out)
	}
	run(t, mutex(t, here, "acquire", "build/a.b", "--wait", "0")).wants(t, 1, "held by me")
	run(t, mutex(t, here, "status", "build/a.b", "--exit-code")).wants(t, 0)
	if r := run(t, mutex(t, here, "list")).wants(t, 0); !strings.Contains(r.out, `"topic": "build/a.b"`) {
		t.Error(r.out)
	}
	owner := append(here, "MUTEX_LEASE="+lease)
	run(t, mutex(t, owner, "check", "build/a.b")).wants(t, 0)
	run(t, mutex(t, owner, "renew", "build/a.b")).wants(t, 0)
	run(t, mutex(t, owner, "release", "build/a.b")).wants(t, 0)
	run(t, mutex(t, owner, "release", "build/a.b")).wants(t, 1)
	run(t, mutex(t, here, "status", "build/a.b", "--exit-code")).wants(t, 3)
	run(t, mutex(t, here, "run", "b", "a", "--", "sh", "-c", `test "$MUTEX_TOPIC" = b,a -a "$MUTEX_URL" = `+url)).wants(t, 0)
	if r := run(t, mutex(t, here, "history")).wants(t, 0); !strings.Contains(r.out, `"released"`) {
		t.Error(r.out)
	}
	run(t, mutex(t, []string{"MUTEX_URL=file://elsewhere/x"}, "status", "a")).wants(t, 2, "file:///path")
}
