package main

import (
	"cmp"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"

	"legible.sh/mutex/internal/policy"
)

// findToken gives the server's token: from the flags, else from the environment; "" if there is none.
func (t *target) findToken() (string, error) {
	if t.token != "" {
		return firstOf(t.token), nil
	}
	if t.tokenFile != "" {
		return readSecret(t.tokenFile)
	}
	if v := os.Getenv("MUTEX_TOKEN"); v != "" {
		return firstOf(v), nil
	}
	if file := os.Getenv("MUTEX_TOKEN_FILE"); file != "" {
		return readSecret(file)
	}
	return "", nil
}

// findAdminToken gives the admin's token: from the flag, else from the environment, else the one that a server of
// this user on this machine has left for its commands; "" if there is none. That last one is found only for a URL
// that no other machine can answer.
func (t *target) findAdminToken() (string, error) {
	if t.adminTokenFile == "" {
		if v := os.Getenv("MUTEX_ADMIN_TOKEN"); v != "" {
			return v, nil
		}
	}
	if file := cmp.Or(t.adminTokenFile, os.Getenv("MUTEX_ADMIN_TOKEN_FILE")); file != "" {
		return readSecret(file)
	}
	token, err := policy.FindAdminToken(userDirs(), address(t.used))
	t.noAdminToken = err // most commands need none
	return token, nil
}

func userDirs() policy.Dirs {
	home, _ := os.UserHomeDir() // without one, nothing is found there
	return policy.Dirs{Runtime: os.Getenv("XDG_RUNTIME_DIR"), State: os.Getenv("XDG_STATE_HOME"), Home: home}
}

// address is where the server at a URL listens, as far as the URL tells.
func address(raw string) string {
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return ""
	case u.Scheme == "unix":
		return raw
	case u.Port() == "":
		return net.JoinHostPort(u.Hostname(), defaultPorts[u.Scheme])
	}
	return net.JoinHostPort(u.Hostname(), u.Port())
}

var defaultPorts = map[string]string{"http": "80", "https": "443"}

// firstOf is the one token to send of the several that a server's own settings may hold.
func firstOf(tokens string) string {
	first, _, _ := strings.Cut(tokens, ",")
	return strings.TrimSpace(first)
}

// readSecret gives the first line of a file that only its owner may read, and that is no link to one.
func readSecret(path string) (string, error) {
	r := io.Reader(os.Stdin)
	if path != "-" {
		f, err := openPrivate(path)
		if err != nil {
			return "", err
		}
		defer f.Close()
		r = f
	}
	b, err := io.ReadAll(io.LimitReader(r, 64<<10))
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	words := strings.Fields(string(b))
	if len(words) == 0 {
		return "", fmt.Errorf("%s: no token in it", path)
	}
	return firstOf(words[0]), nil
}

func openPrivate(path string) (*os.File, error) {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: not a plain file, and a secret is read from nothing else but - for stdin", path)
	case info.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("%s: others can read it; chmod 600 %s", path, path)
	}
	return os.Open(path)
}
