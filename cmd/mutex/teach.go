package main

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"

	"github.com/spf13/cobra"

	"legible.sh/mutex/internal/cli"
	"legible.sh/mutex/internal/teach"
)

// teaching prints what an agent must know of this server.
func (t *target) teaching() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use: "teach [flags]", Short: "Print what an agent must know, for its instructions", Args: cobra.NoArgs, DisableFlagsInUseLine: true,
		Long: `teach prints a block to paste into AGENTS.md or CLAUDE.md: how to take, keep and give back a lease of this server, and
the rules for whoever holds one.

With --skill it writes two skills into a directory instead, mutex for this server and agentmutex for leases on one
machine without any, and prints their paths. It replaces them, and nothing else. No server has to be running.`,
		Example: `  mutex --url https://mutex.example teach >> AGENTS.md
  mutex --url https://mutex.example teach --skill ~/.claude/skills`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			server, err := curlable(cmp.Or(t.url, os.Getenv("MUTEX_URL"), defaultURL))
			if err != nil {
				return err
			}
			if dir == "" {
				_, err := fmt.Fprint(cmd.OutOrStdout(), teach.Block(server))
				return err
			}
			files, err := teach.WriteSkills(dir, server)
			for _, file := range files {
				fmt.Fprintln(cmd.OutOrStdout(), file)
			}
			return err
		},
	}
	cmd.Flags().StringVar(&dir, "skill", "", "write skills into this `DIR`, such as ~/.claude/skills")
	return cmd
}

// curlable is a URL as it can stand in a text for others.
func curlable(raw string) (string, error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return "", cli.UsageError(errors.New("teach is about a server that curl can reach: give its URL, http://… or https://…, with --url or MUTEX_URL"))
	case u.User != nil:
		return "", cli.UsageError(errors.New("the URL holds a password, which must not go into a text for others: give it without"))
	}
	return u.String(), nil
}
