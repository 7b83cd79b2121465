package soak_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// answer is what these tests read of any answer.
type answer struct {
	grant
	Hint  string `json:"hint"`
	State string `json:"state"`
}

// A server whose disk fills up, a tmpfs that only it can see: grants are refused with a hint, and nothing is
// shown as held that is not on the disk; renewing and releasing go on; readiness says so; and all is well again, without
// a restart, when there is room.
func TestFullDisk(t *testing.T) {
	mount := t.TempDir()
	s := start(t, mount, "unshare", "--map-root-user", "--mount", "sh", "-ec",
		`mount -t tmpfs -o size=16m none "$1"; head -c 10000000 /dev/zero >"$1/filler"; exec "$2" serve --port 0 --history=false --data-dir "$1/data"`,
		"sh", mount, binary)
	ask := func(method, path, lease string) (status int, got answer) {
		header := http.Header{}
		if lease != "" {
			header.Set("X-Lease", lease)
		}
		return s.call(context.Background(), method, path, header, &got), got
	}
	leases := fill(t, ask)
	if status, got := ask("GET", fmt.Sprintf("/t%d", len(leases)), ""); status != http.StatusOK || got.State != "free" {
		t.Errorf("the refused topic: status %d, state %q", status, got.State)
	}
	if status, _ := ask("GET", "/-/ready", ""); status != http.StatusServiceUnavailable {
		t.Errorf("ready on a full disk: status %d", status)
	}
	for n, lease := range leases {
		if status, got := ask("POST", fmt.Sprintf("/t%d/-/renew", n), lease); status != http.StatusOK {
			t.Fatalf("renew %d: status %d %s", n, status, got.Code)
		}
	}
	if status, got := ask("DELETE", "/t0/-", leases[0]); status != http.StatusOK {
		t.Errorf("release: status %d %s", status, got.Code)
	}
	// The server's mounts are seen through its own root.
	if err := os.Remove(filepath.Join("/proc", fmt.Sprint(s.pid), "root", mount, "filler")); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if status, _ := ask("GET", "/-/ready", ""); status == http.StatusOK {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("never ready again:\n%s", s.log)
		}
	}
	if status, got := ask("POST", "/again?ttl=60", ""); status != http.StatusOK {
		t.Errorf("acquire, with room again: status %d %s", status, got.Code)
	}
	s.end(t)
}

// fill acquires until it is refused for want of room.
func fill(t *testing.T, ask func(method, path, lease string) (int, answer)) (leases []string) {
	t.Helper()
	for n := 0; n < 5000; n++ {
		status, got := ask("POST", fmt.Sprintf("/t%d?ttl=60", n), "")
		if status == http.StatusOK {
			leases = append(leases, got.Lease)
			continue
		}
		if refused := got.Code == "SUSPENDED" || got.Code == "STORAGE"; status != http.StatusServiceUnavailable || !refused || got.Hint == "" {
			t.Fatalf("acquire on a full disk: status %d %s, hint %q", status, got.Code, got.Hint)
		}
		t.Logf("%d leases before the disk was full", len(leases))
		return leases
	}
	t.Fatal("the disk never got full")
	return nil
}
