package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"legible.sh/mutex/internal/cli"
	"legible.sh/mutex/internal/dirstore"
	"legible.sh/mutex/internal/locker"
)

const (
	envDir   = "AGENTMUTEX_DIR"
	envKey   = "AGENTMUTEX_LEASE_KEY"
	envFence = "AGENTMUTEX_FENCE"
	// envHeld lists all leases that a process runs under, the outermost first: key@fence, with blanks between.
	envHeld = "AGENTMUTEX_HELD"
)

// target is the flags that say which directory to use, and the store once it is open.
type target struct {
	dir  string
	poll cli.Duration
	warn func(format string, args ...any)

	store *dirstore.Store
	under []dirstore.Under
}

func (t *target) connect(flags *pflag.FlagSet, warn func(string, ...any)) cli.Opener {
	t.warn, t.poll = warn, cli.Duration(dirstore.DefaultPoll)
	flags.StringVar(&t.dir, "dir", "", "the `directory` with the state ["+envDir+"] (default ~/.agentmutex)")
	flags.Var(&t.poll, "poll", "how often to look while waiting, beneath the notifications")
	return t.open
}

func (t *target) open(context.Context) (locker.Locker, string, error) {
	dir := cmp.Or(t.dir, os.Getenv(envDir))
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, "", fmt.Errorf("there is no home directory for the state; name one with --dir or %s: %w", envDir, err)
		}
		dir = filepath.Join(home, ".agentmutex")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, "", err
	}
	if os.Getenv(envDir) == dir {
		t.under = under()
	}
	t.store, err = dirstore.Open(dirstore.Options{
		Dir: dir, Poll: t.poll.D(), Under: t.under,
		Warn: func(err error) { t.warn("the history misses something; the locks are not affected: %v", err) },
	})
	if err != nil {
		return nil, "", err
	}
	return t.store, dir, nil
}

// close waits for the history.
func (t *target) close() {
	if t.store == nil {
		return
	}
	if err := t.store.Close(); err != nil {
		t.warn("%v", err)
	}
}

// under reads from the environment which leases this process runs under.
func under() (all []dirstore.Under) {
	pairs := append(strings.Fields(os.Getenv(envHeld)), os.Getenv(envKey)+"@"+os.Getenv(envFence))
	for _, pair := range pairs {
		key, number, _ := strings.Cut(pair, "@")
		if fence, err := strconv.ParseInt(number, 10, 64); err == nil && key != "" {
			all = append(all, dirstore.Under{Key: key, Fence: fence})
		}
	}
	return all
}

// chain adds a lease to those that this process runs under itself.
func (t *target) chain(lease string) string {
	if len(t.under) == 0 {
		return lease
	}
	return strings.Join(append(strings.Fields(os.Getenv(envHeld)), lease), " ")
}

// hint says what to do about an error whose own text does not.
func hint(err error) string {
	switch {
	case errors.Is(err, locker.ErrBroken):
		return "agentmutex status KEY says more; agentmutex force-release KEY shows what mending would do, and --yes before the key does it"
	case errors.Is(err, locker.ErrNotHolder), errors.Is(err, locker.ErrNotHeld):
		return "stop what runs under it; agentmutex status KEY shows how it stands"
	}
	return ""
}
