package main

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"

	"legible.sh/mutex/internal/policy"
	"legible.sh/mutex/internal/private"
)

// findToken gives the server's token: from the flags, else from the environment; "" if there is none.
func (t *target) findToken() (string, error) {
	if t.token != "" {
		return firstOf(t.token), nil
	}
	if t.tokenFile != "" {
		return readSecret("--token-file", t.tokenFile)
	}
	if v := os.Getenv("MUTEX_TOKEN"); v != "" {
		return firstOf(v), nil
	}
	if file := os.Getenv("MUTEX_TOKEN_FILE"); file != "" {
		return readSecret("MUTEX_TOKEN_FILE", file)
	}
	return "", nil
}

// findAdminToken gives the admin's token: from the flag, else from the environment, else the one that a server of
// this user on this machine has left for its commands; "" if there is none. That last one is found only for a URL
// that no other machine can answer.
func (t *target) findAdminToken() (string, error) {
	if t.adminTokenFile != "" {
		return readSecret("--admin-token-file", t.adminTokenFile)
	}
	if v := os.Getenv("MUTEX_ADMIN_TOKEN"); v != "" {
		return v, nil
	}
	if file := os.Getenv("MUTEX_ADMIN_TOKEN_FILE"); file != "" {
		return readSecret("MUTEX_ADMIN_TOKEN_FILE", file)
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

// readSecret gives the first secret in a file that only its owner may read, or on stdin. Its errors say which flag or
// variable named the file.
func readSecret(from, path string) (string, error) {
	read := func() ([]string, error) { return private.Words(path) }
	if path == "-" {
		read = func() ([]string, error) { return private.WordsOf(os.Stdin, "stdin") }
	}
	words, err := read()
	if err != nil {
		return "", fmt.Errorf("%s: %w", from, err)
	}
	return firstOf(words[0]), nil
}
