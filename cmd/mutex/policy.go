package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"legible.sh/mutex/internal/cli"
	"legible.sh/mutex/internal/policy"
)

// policies has what can be done with a policy file.
func policies() *cobra.Command {
	cmd := &cobra.Command{Use: "policy", Short: "Look at a policy file", Annotations: map[string]string{cli.NoteAlone: "yes"}, RunE: cli.NeedsVerb}
	cmd.AddCommand(&cobra.Command{
		Use: "check FILE", Short: "Say what is wrong with a policy file", Args: cobra.ExactArgs(1), DisableFlagsInUseLine: true,
		Annotations: map[string]string{cli.NoteAlone: "yes"},
		Long:        `check reads a policy file as a server would and names every mistake by its line. It exits 0 if there is none.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := policy.Check(args[0]); err != nil {
				return err
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s is in order\n", args[0])
			return err
		},
	})
	return cmd
}
