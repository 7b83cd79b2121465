package dirstore_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"legible.sh/mutex/internal/dirstore"
	"legible.sh/mutex/internal/locker"
)

// roleVar makes the test binary play another part than that of the tests: its own process in some scenario.
const roleVar = "DIRSTORE_TEST_ROLE"

// roles are the parts, by name. Each gets the arguments that it was started with.
var roles = map[string]func(args []string) error{
	"increment": increment,
	"handoff":   handoff,
	"hold":      hold,
	"queue":     queue,
	"die":       die,
}

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVar); role != "" {
		if err := roles[role](os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, role+":", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// play prepares a process that plays a role.
func play(role string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), roleVar+"="+role)
	cmd.Stderr = os.Stderr
	return cmd
}

// open gives a store on a directory.
func open(t testing.TB, dir string) *dirstore.Store {
	t.Helper()
	s, err := dirstore.Open(dirstore.Options{Dir: dir, Warn: func(err error) { t.Errorf("history: %v", err) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// acquire takes a key that must be free.
func acquire(t testing.TB, s *dirstore.Store, key string, ttl time.Duration) locker.Grant {
	t.Helper()
	g, err := s.Acquire(t.Context(), key, locker.Request{Who: locker.Who{Name: "tester"}, TTL: ttl})
	if err != nil {
		t.Fatalf("acquire %s: %v", key, err)
	}
	return g
}

func release(t testing.TB, s *dirstore.Store, g locker.Grant) {
	t.Helper()
	if _, err := s.Release(context.Background(), g.Key, g.Token); err != nil {
		t.Fatalf("release %s: %v", g.Key, err)
	}
}

func status(t testing.TB, s *dirstore.Store, key string) locker.Status {
	t.Helper()
	st, err := s.Status(context.Background(), key)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// eventually polls until a condition holds.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// files lists what lies in a key's directory, by name.
func files(t testing.TB, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}
