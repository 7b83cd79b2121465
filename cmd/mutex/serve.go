package main

import (
	"context"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"legible.sh/mutex/internal/app"
	"legible.sh/mutex/internal/cli"
	"legible.sh/mutex/internal/config"
)

// serve is the server, as a command.
func serve() *cobra.Command {
	cmd := &cobra.Command{
		Use: "serve [flags]", Short: "Run a server", DisableFlagsInUseLine: true, Args: cobra.NoArgs,
		Long: `serve runs a server until TERM or INT, which end it in order: who waits is told to ask again, watchers get a
last event, what is stored is synced, and it exits 0.

Every setting is a flag and a variable; the flag wins. Durations are seconds or have a unit: 60, 0.5, 20m. It runs on
one thread more than there are processors, or on as many as GOMAXPROCS says.`,
		Example: `  mutex serve                                         on 127.0.0.1:4185, in memory
  mutex serve --data-dir /var/lib/mutex               leases and fences outlive a restart
  mutex serve --listen unix:/run/mutex.sock           for one machine
  MUTEX_TOKEN=... mutex serve --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem`,
	}
	cmd.Annotations = map[string]string{cli.NoteAlone: "yes"}
	config.Register(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := config.Load(cmd.Flags(), environment())
		if err != nil {
			return cli.UsageError(err)
		}
		ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGTERM, os.Interrupt)
		defer stop()
		context.AfterFunc(ctx, stop) // a second signal ends it at once
		reload := make(chan os.Signal, 1)
		signal.Notify(reload, syscall.SIGHUP)
		defer signal.Stop(reload)
		addThread()
		return app.Serve(ctx, app.Options{
			Config: c, Log: logger(c, cmd.ErrOrStderr()), Version: cli.Version(), Dirs: userDirs(), Reload: reload,
			Tracing: tracing(),
		})
	}
	return cmd
}

// tracing tells whether the standard variables name a collector for spans.
func tracing() bool {
	return os.Getenv("OTEL_SDK_DISABLED") != "true" && os.Getenv("OTEL_TRACES_EXPORTER") != "none" &&
		(os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != "")
}

// environment is this process's, as a map.
func environment() map[string]string {
	all := make(map[string]string)
	for _, pair := range os.Environ() {
		name, value, _ := strings.Cut(pair, "=")
		all[name] = value
	}
	return all
}

func logger(c config.Config, w io.Writer) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(c.LogLevel)) // checked when it was loaded
	options := &slog.HandlerOptions{Level: level}
	if c.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}
