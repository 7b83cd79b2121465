// Package apptest runs whole servers inside tests, for packages that need one to talk to. A server that it starts owns
// its goroutines, and they are gone when its stop has returned.
package apptest

import (
	"context"
	"log/slog"
	"maps"
	"testing"

	"github.com/spf13/pflag"

	"legible.sh/mutex/internal/app"
	"legible.sh/mutex/internal/config"
)

// Start runs a server with the settings in environ, MUTEX_… variables and their values. Unless they say something else,
// it listens on a free port of loopback and keeps all in memory. It logs nothing. stop waits for its end.
func Start(environ map[string]string) (url string, stop func() error, err error) {
	all := map[string]string{"MUTEX_PORT": "0"}
	maps.Copy(all, environ)
	c, err := config.Load(pflag.NewFlagSet("", pflag.ContinueOnError), all)
	if err != nil {
		return "", nil, err
	}
	s, err := app.New(app.Options{Config: c, Log: slog.New(slog.DiscardHandler), Version: "test"})
	if err != nil {
		return "", nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	return s.URL(), func() error {
		cancel()
		return <-done
	}, nil
}

// Serve is [Start] for a test, until it ends.
func Serve(t testing.TB, environ map[string]string) (url string) {
	t.Helper()
	url, stop, err := Start(environ)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	return url
}
