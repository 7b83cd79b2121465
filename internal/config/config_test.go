package config_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"legible.sh/mutex/internal/config"
)

var update = flag.Bool("update", false, "write the README's table of settings")

func load(t *testing.T, environ map[string]string, args ...string) (config.Config, error) {
	t.Helper()
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	config.Register(flags)
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	return config.Load(flags, environ)
}

func TestDefaults(t *testing.T) {
	c, err := load(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.Host != "127.0.0.1" || c.Port != 4185 || c.MaxTTL.D() != time.Hour || c.MaxTopics != 10_000 || !c.History {
		t.Errorf("%+v", c)
	}
	if a, err := c.Address(); err != nil || a.Addr != "127.0.0.1:4185" || !a.Local() {
		t.Errorf("%+v %v", a, err)
	}
}

func TestFlagsWinOverVariables(t *testing.T) {
	environ := map[string]string{"MUTEX_PORT": "1", "MUTEX_MAX_WAIT": "60", "MUTEX_TOKEN": "a,b", "PORT": "9"}
	c, err := load(t, environ, "--port", "2", "--topic-idle=20m", "--history=false")
	if err != nil {
		t.Fatal(err)
	}
	if c.Port != 2 || c.MaxWait.D() != time.Minute || c.TopicIdle.D() != 20*time.Minute || c.History || len(c.Tokens) != 2 {
		t.Errorf("%+v", c)
	}
}

// TestABooleanFlagIsShownAndReadAsOne: alone it is true, and = gives it another value.
func TestABooleanFlagIsShownAndReadAsOne(t *testing.T) {
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	config.Register(flags)
	if help := flags.FlagUsages(); !strings.Contains(help, "--history   ") || !strings.Contains(help, "[MUTEX_HISTORY] (default true)\n") {
		t.Error(help)
	}
	for arg, want := range map[string]bool{"--history": true, "--history=true": true, "--history=1": true, "--history=false": false, "--history=0": false} {
		if c, err := load(t, map[string]string{"MUTEX_HISTORY": "false"}, arg); err != nil || c.History != want {
			t.Errorf("%s: %v %v", arg, c.History, err)
		}
	}
}

// TestBadValuesAreNamedAsTheUserNamedThem covers each kind of value, by flag and by variable.
func TestBadValuesAreNamedAsTheUserNamedThem(t *testing.T) {
	cases := []struct {
		name, value, want string
	}{
		{"PORT", "x", "whole number"},
		{"PORT", "70000", "0 to 65535"},
		{"MAX_TTL", "soon", "seconds or a unit"},
		{"MAX_TTL", "-1", "seconds or a unit"},
		{"MAX_TTL", "NaN", "seconds or a unit"},
		{"HISTORY", "perhaps", "true or false"},
		{"FSYNC", "sometimes", "always, interval or never"},
		{"BASE_URL", "mutex.test", "http:// or https://"},
		{"BASE_URL", "https://user:secret@mutex.test", "http:// or https://"},
		{"LISTEN", "nonsense", "unix:/path or host:port"},
		{"LISTEN", "unix:", "unix:/path or host:port"},
		{"MAX_BODY", "5", "128 to 1048576"},
		{"PPROF", "0.0.0.0:6060", "loopback"},
		{"TLS_CERT", "cert.pem", "--tls-key (MUTEX_TLS_KEY)"},
		{"TLS_KEY", "key.pem", "--tls-cert (MUTEX_TLS_CERT)"},
		{"TOKEN_FILE", "none", "no such file"},
		{"ADMIN_TOKEN_FILE", "none", "no such file"},
	}
	for _, c := range cases {
		variable, flagName := "MUTEX_"+c.name, "--"+strings.ToLower(strings.ReplaceAll(c.name, "_", "-"))
		_, err := load(t, map[string]string{variable: c.value})
		if err == nil || !strings.Contains(err.Error(), variable) {
			t.Errorf("%s=%s: %v", variable, c.value, err)
		}
		_, err = load(t, nil, flagName+"="+c.value)
		if err == nil || !strings.Contains(err.Error(), flagName) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s=%s: %v", flagName, c.value, err)
		}
	}
}

func TestAllBadValuesAreNamedAtOnce(t *testing.T) {
	_, err := load(t, map[string]string{"MUTEX_PORT": "70000", "MUTEX_FSYNC": "x"}, "--max-body=1")
	for _, name := range []string{"MUTEX_PORT", "MUTEX_FSYNC", "--max-body"} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not named: %v", name, err)
		}
	}
}

func TestTokenFilesMustBePrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(path, []byte("one\ntwo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := load(t, nil, "--token-file", path); err != nil || len(c.Tokens) != 2 {
		t.Errorf("%v %v", c.Tokens, err)
	}
	link := path + ".link"
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if _, err := load(t, nil, "--token-file", link); err == nil {
		t.Error("a link was followed")
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	_, err := load(t, nil, "--admin-token-file", path)
	if err == nil || !strings.Contains(err.Error(), "chmod 600") || strings.Contains(err.Error(), "one") {
		t.Errorf("a file that others can read: %v", err)
	}
}

func TestAddresses(t *testing.T) {
	for listen, want := range map[string]struct {
		network, addr string
		local         bool
	}{
		"unix:/run/m.sock":   {"unix", "/run/m.sock", true},
		"unix:///run/m.sock": {"unix", "/run/m.sock", true},
		"0.0.0.0:80":         {"tcp", "0.0.0.0:80", false},
		"[::1]:80":           {"tcp", "[::1]:80", true},
		"localhost:80":       {"tcp", "localhost:80", true},
	} {
		c, err := load(t, map[string]string{"MUTEX_LISTEN": listen})
		if err != nil {
			t.Errorf("%s: %v", listen, err)
			continue
		}
		a, _ := c.Address()
		if a.Network != want.network || a.Addr != want.addr || a.Local() != want.local {
			t.Errorf("%s: %+v", listen, a)
		}
	}
}

func TestDurations(t *testing.T) {
	for s, want := range map[string]time.Duration{"60": time.Minute, "0.5": 500 * time.Millisecond, "1.001": 1001 * time.Millisecond, "20m": 20 * time.Minute, "1h30m": 90 * time.Minute, "0": 0} {
		if d, err := config.ParseDuration(s); err != nil || d.D() != want {
			t.Errorf("%s: %v %v", s, d.D(), err)
		}
	}
	for _, s := range []string{"", "x", "-1", "-1s", "NaN", "Inf", "1e300", "5 s"} {
		if d, err := config.ParseDuration(s); err == nil {
			t.Errorf("%q: %v", s, d.D())
		}
	}
}

const begin, end = "<!-- settings -->\n", "<!-- /settings -->"

// TestReadmeListsEverySetting keeps the README's table what the tags say; -update writes it.
func TestReadmeListsEverySetting(t *testing.T) {
	const path = "../../README.md"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatal("the README has lost its markers")
	}
	want := before + begin + config.Markdown() + end + after
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(text) {
		t.Error("the README's table is old; run: go test ./internal/config -run Readme -update")
	}
}
