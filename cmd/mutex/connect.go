package main

import (
	"cmp"
	"context"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"legible.sh/mutex/internal/cli"
	"legible.sh/mutex/internal/locker"
	"legible.sh/mutex/internal/remote"
)

// defaultURL is used when neither --url nor MUTEX_URL is there, which is then said.
const defaultURL = "https://mutex.legible.sh"

// target is the flags that say which lock service to use, and with which tokens.
type target struct {
	url, token, tokenFile, adminTokenFile string

	warn func(format string, args ...any)
	used string // the URL in use, once it is open
	// noAdminToken is why no admin token was found by itself; nil where one was, or was not looked for.
	noAdminToken error
}

func (t *target) connect(flags *pflag.FlagSet, warn func(string, ...any)) cli.Opener {
	t.warn = warn
	flags.StringVar(&t.url, "url", "", "the server: http://host:port, https://host or unix:///path; or a directory, without any server: file:///path [MUTEX_URL] (default \""+defaultURL+"\")")
	flags.StringVar(&t.token, "token", "", "the server's `token`; whoever lists processes can see it, so better use the next or the variable [MUTEX_TOKEN]")
	flags.StringVar(&t.tokenFile, "token-file", "", "a `file` with the server's token; - is stdin [MUTEX_TOKEN_FILE]")
	flags.StringVar(&t.adminTokenFile, "admin-token-file", "", "a `file` with the admin's token, for list, history, prune and force-release [MUTEX_ADMIN_TOKEN_FILE, or MUTEX_ADMIN_TOKEN]")
	return t.open
}

func (t *target) open(context.Context) (locker.Locker, string, error) {
	t.used = cmp.Or(t.url, os.Getenv("MUTEX_URL"))
	if t.used == "" {
		t.used = defaultURL
		t.warn("using %s; set MUTEX_URL or --url for another server", t.used)
	}
	if strings.HasPrefix(t.used, "file:") {
		return t.openDirectory()
	}
	return t.openServer()
}

func (t *target) openServer() (locker.Locker, string, error) {
	token, err := t.findToken()
	if err != nil {
		return nil, "", err
	}
	admin, err := t.findAdminToken()
	if err != nil {
		return nil, "", err
	}
	r, err := remote.Open(t.used, remote.Options{
		Token: token, AdminToken: admin, UserAgent: "mutex/" + cli.Version(), Trace: os.Getenv("TRACEPARENT"),
		Under: t.underServer(),
	})
	if err != nil {
		return nil, "", err
	}
	return r, r.URL(), nil
}
