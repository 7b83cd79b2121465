//go:build unix

package policy_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"legible.sh/mutex/internal/policy"
)

func dirs(t *testing.T) policy.Dirs {
	t.Helper()
	base := t.TempDir()
	d := policy.Dirs{Runtime: filepath.Join(base, "run"), State: filepath.Join(base, "state"), Home: filepath.Join(base, "home")}
	if err := os.Mkdir(d.Runtime, 0o700); err != nil {
		t.Fatal(err)
	}
	return d
}

func keep(t *testing.T, d policy.Dirs, address string) *policy.AdminFile {
	t.Helper()
	f, err := policy.KeepAdminToken(d, address)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func find(t *testing.T, d policy.Dirs, address string) string {
	t.Helper()
	token, err := policy.FindAdminToken(d, address)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestTheCommandFindsWhatTheServerKept(t *testing.T) {
	for server, client := range map[string]string{
		"127.0.0.1:4185":       "localhost:4185",
		"[::1]:4186":           "127.0.0.1:4186",
		"localhost:4187":       "[::1]:4187",
		"127.0.0.9:4185":       "127.0.0.9:4185",
		"[::ffff:127.0.0.1]:1": "LOCALHOST:1",
		"unix:///run/m.sock":   "unix:///run/../run/m.sock",
	} {
		d := dirs(t)
		f := keep(t, d, server)
		if got := find(t, d, client); got != f.Token {
			t.Errorf("%s did not find what %s kept", client, server)
		}
		info, err := os.Stat(f.Path)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", f.Path, info.Mode(), err)
		}
		if _, err := policy.FindAdminToken(d, "127.0.0.1:9999"); !errors.Is(err, policy.ErrNoAdminFile) {
			t.Errorf("another port: %v, want ErrNoAdminFile", err)
		}
		if err := f.Remove(); err != nil {
			t.Error(err)
		}
		if _, err := policy.FindAdminToken(d, client); !errors.Is(err, policy.ErrNoAdminFile) {
			t.Errorf("after its removal: %v, want ErrNoAdminFile", err)
		}
	}
}

func TestOnlyLocalAddressesGetATokenByThemselves(t *testing.T) {
	for address, local := range map[string]bool{
		"127.0.0.1:1": true, "localhost:1": true, "[::1]:1": true, "unix:///a": true,
		"0.0.0.0:1": false, "[::]:1": false, ":1": false, "10.0.0.1:1": false, "example.com:1": false, "unix://a": false,
		"127.0.0.1": false, "127.0.0.1:http": false, "localhost.example.com:1": false, "127.0.0.1:../x": false, "": false,
	} {
		if _, err := policy.KeepAdminToken(dirs(t), address); (err == nil) != local {
			t.Errorf("KeepAdminToken(%q): %v", address, err)
		}
	}
}

func TestServerAndCommandNeedNotSeeTheSameDirectories(t *testing.T) {
	d := dirs(t)
	service := policy.Dirs{State: d.State, Home: d.Home} // no login session
	f := keep(t, service, "127.0.0.1:1")
	if got := find(t, d, "127.0.0.1:1"); got != f.Token {
		t.Error("not found in the state directory")
	}
	// One that a server left when it was killed, and a newer one elsewhere.
	stale := keep(t, d, "127.0.0.1:1")
	past := time.Now().Add(-time.Hour)
	if err := os.Chtimes(stale.Path, past, past); err != nil {
		t.Fatal(err)
	}
	if got := find(t, d, "127.0.0.1:1"); got != f.Token {
		t.Error("the stale one was preferred")
	}
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(stale.Path, later, later); err != nil {
		t.Fatal(err)
	}
	if got := find(t, d, "127.0.0.1:1"); got != stale.Token {
		t.Error("the newest one was not preferred")
	}
	home := policy.Dirs{Runtime: "/nonexistent/runtime", State: "relative", Home: d.Home}
	f = keep(t, home, "127.0.0.1:2")
	if want := filepath.Join(d.Home, ".local", "state", "mutex", "admin-2"); f.Path != want {
		t.Errorf("kept in %s, want %s", f.Path, want)
	}
	if _, err := policy.KeepAdminToken(policy.Dirs{}, "127.0.0.1:1"); err == nil {
		t.Error("kept nowhere, and no error")
	}
}

func TestASecondServersTokenReplacesTheFirstAndOutlivesIt(t *testing.T) {
	d := dirs(t)
	first, second := keep(t, d, "127.0.0.1:1"), keep(t, d, "127.0.0.1:1")
	if first.Token == second.Token {
		t.Error("the token was not made anew")
	}
	if err := first.Remove(); err != nil {
		t.Error(err)
	}
	if got := find(t, d, "127.0.0.1:1"); got != second.Token {
		t.Error("the first server took the second one's token away")
	}
}

func TestATokenFileThatIsNotPrivateIsRefused(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, file string){
		"readable by others": func(t *testing.T, file string) { must(t, os.Chmod(file, 0o644)) },
		"a link": func(t *testing.T, file string) {
			must(t, os.Rename(file, file+"-moved"))
			must(t, os.Symlink(file+"-moved", file))
		},
		"a pipe":                   func(t *testing.T, file string) { must(t, os.Remove(file)); must(t, syscall.Mkfifo(file, 0o600)) },
		"a directory":              func(t *testing.T, file string) { must(t, os.Remove(file)); must(t, os.Mkdir(file, 0o700)) },
		"no token":                 func(t *testing.T, file string) { must(t, os.WriteFile(file, []byte("ssh key\n"), 0o600)) },
		"a directory open to all":  func(t *testing.T, file string) { must(t, os.Chmod(filepath.Dir(file), 0o777)) },
		"a directory that a group": func(t *testing.T, file string) { must(t, os.Chmod(filepath.Dir(file), 0o770)) },
		"another user's directory": func(t *testing.T, file string) { must(t, os.Chown(filepath.Dir(file), 65534, -1)) },
		"another user's file":      func(t *testing.T, file string) { must(t, os.Chown(file, 65534, -1)) },
		"a link for the directory": func(t *testing.T, file string) {
			dir := filepath.Dir(file)
			must(t, os.Rename(dir, dir+"-moved"))
			must(t, os.Symlink(dir+"-moved", dir))
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := dirs(t)
			f := keep(t, d, "127.0.0.1:1")
			spoil(t, f.Path)
			if token, err := policy.FindAdminToken(d, "127.0.0.1:1"); !errors.Is(err, policy.ErrNotPrivate) {
				t.Errorf("got %q, %v; want ErrNotPrivate", token, err)
			}
		})
	}
}

func TestTheServerDoesNotWriteWhereOthersCan(t *testing.T) {
	d := dirs(t)
	must(t, os.Mkdir(filepath.Join(d.Runtime, "mutex"), 0o700))
	must(t, os.Chmod(filepath.Join(d.Runtime, "mutex"), 0o777))
	f := keep(t, d, "127.0.0.1:1")
	if filepath.Dir(f.Path) != filepath.Join(d.State, "mutex") {
		t.Errorf("kept in %s", f.Path)
	}
	// A link in place of the file is replaced, not followed.
	victim := filepath.Join(t.TempDir(), "victim")
	must(t, os.WriteFile(victim, []byte("mine"), 0o600))
	must(t, os.Remove(f.Path))
	must(t, os.Symlink(victim, f.Path))
	keep(t, d, "127.0.0.1:1")
	if got, _ := os.ReadFile(victim); string(got) != "mine" {
		t.Error("the link was followed")
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
