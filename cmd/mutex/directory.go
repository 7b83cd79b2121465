package main

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"legible.sh/mutex/internal/dirstore"
	"legible.sh/mutex/internal/locker"
)

// openDirectory gives the directory that a file: URL names, which agentmutex may be using as well.
func (t *target) openDirectory() (locker.Locker, string, error) {
	dir, err := directoryOf(t.used)
	if err != nil {
		return nil, "", fmt.Errorf("%w: %w", locker.ErrUsage, err)
	}
	s, err := dirstore.Open(dirstore.Options{
		Dir: dir, Under: t.under(),
		Warn: func(err error) { t.warn("the history misses something; the locks are not affected: %v", err) },
	})
	if err != nil {
		return nil, "", err
	}
	return s, t.used, nil
}

func directoryOf(raw string) (string, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Host != "" && u.Host != "localhost" || !filepath.IsAbs(filepath.FromSlash(u.Path)) {
		return "", fmt.Errorf("%s: write a directory as file:///path", raw)
	}
	return filepath.FromSlash(u.Path), nil
}

// under is the leases that this process runs under in the same directory, as the run around it has told it: to wait
// for one of them would be to wait for itself.
func (t *target) under() []dirstore.Under {
	if os.Getenv("MUTEX_URL") != t.used {
		return nil
	}
	keys, fences := strings.Split(os.Getenv("MUTEX_TOPIC"), ","), strings.Split(os.Getenv("MUTEX_FENCE"), ",")
	var all []dirstore.Under
	for i, key := range keys {
		if i >= len(fences) {
			break
		}
		if fence, err := strconv.ParseInt(fences[i], 10, 64); err == nil {
			all = append(all, dirstore.Under{Key: key, Fence: fence})
		}
	}
	return all
}
