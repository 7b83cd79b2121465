package main

import (
	"fmt"
	"net/url"
	"path/filepath"

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
		Dir: dir, Under: t.underDirectory(),
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
