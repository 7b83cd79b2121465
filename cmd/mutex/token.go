package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"legible.sh/mutex/internal/cli"
	"legible.sh/mutex/internal/policy"
)

// token makes a token and prints both its forms.
func token() *cobra.Command {
	return &cobra.Command{
		Use: "token", Short: "Make a token, for the server and for a policy file", Args: cobra.NoArgs, DisableFlagsInUseLine: true,
		Annotations: map[string]string{cli.NoteAlone: "yes"},
		Long: `token makes a token of 256 random bits and prints two lines: the token, which its holder sends, and its
SHA-256, which goes into a policy file and from which the token cannot be computed.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			secret, sum := policy.NewToken()
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s\n%s\n", secret, sum)
			return err
		},
	}
}
