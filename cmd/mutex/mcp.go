package main

import (
	"cmp"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"legible.sh/mutex/api/client"
	"legible.sh/mutex/internal/cli"
	"legible.sh/mutex/internal/mcpserver"
)

// agents serves the tools of an agent on stdio.
func (t *target) agents() *cobra.Command {
	return &cobra.Command{
		Use: "mcp", Short: "Serve an agent's tools over MCP, on stdin and stdout", Args: cobra.NoArgs, DisableFlagsInUseLine: true,
		Long: `mcp speaks the Model Context Protocol on stdin and stdout, for an agent that starts it, and HTTP to the server that
--url or MUTEX_URL names. Its tools take, confirm and give back leases, and look.

A lease that the agent takes is kept alive for as long as this process runs, and given back when stdin ends, when
nobody reads stdout any more, or when it is asked to stop. If it is killed, its leases end by their ttl. A server has the same at /-/mcp, over HTTP.`,
		Annotations: map[string]string{cli.NoteExit: `0       stdin has ended, nobody reads stdout, or it was asked to stop
1       an error
2       wrong usage`},
		Example: `  claude mcp add mutex --env MUTEX_URL=https://mutex.example -- mutex mcp`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := t.client()
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGTERM, syscall.SIGHUP, os.Interrupt)
			defer stop()
			signal.Ignore(syscall.SIGPIPE) // a write to an agent that is gone fails, and what it held is given back
			host, _ := os.Hostname()       // shown to people only; unknown is empty
			return mcpserver.New(mcpserver.Options{
				Dial:    func(http.Header) (*client.Client, error) { return c, nil },
				Version: cli.Version(), Host: host, PID: os.Getpid(),
			}).RunStdio(ctx, cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
}

// client speaks to the server that the flags name.
func (t *target) client() (*client.Client, error) {
	t.used = cmp.Or(t.url, os.Getenv("MUTEX_URL"))
	if t.used == "" {
		t.used = defaultURL
		t.warn("using %s; set MUTEX_URL or --url for another server", t.used)
	}
	token, err := t.findToken()
	if err != nil {
		return nil, err
	}
	c, err := client.New(t.used, client.WithToken(token), client.WithUserAgent("mutex-mcp/"+cli.Version()))
	if err != nil {
		return nil, cli.UsageError(err)
	}
	return c, nil
}
