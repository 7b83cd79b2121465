package cli

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// suggest names the command that a word was most likely meant for.
func suggest(cmd *cobra.Command, word string) string {
	cmd.SuggestionsMinimumDistance = near(word)
	if like := cmd.SuggestionsFor(word); len(like) > 0 {
		return "; did you mean " + like[0] + "?"
	}
	return ""
}

// flagError makes an error of the flags' parser one of usage, with the flag that was most likely meant.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		if name := similarFlag(cmd.Flags(), unknown); name != "" {
			return usagef("%v; did you mean --%s?", err, name)
		}
	}
	return usagef("%v", err)
}

// similarFlag is the flag nearest to one that is not there; "" if none is near. One dash before a whole name is near.
func similarFlag(flags *pflag.FlagSet, unknown *pflag.NotExistError) (nearest string) {
	if short, _, _ := strings.Cut(unknown.GetSpecifiedShortnames(), "="); short != "" {
		if flags.Lookup(short) != nil {
			return short
		}
		return ""
	}
	word := unknown.GetSpecifiedName()
	least := near(word)
	flags.VisitAll(func(f *pflag.Flag) {
		n := distance(word, f.Name)
		if len(word) > 2 && strings.HasPrefix(f.Name, word) {
			n = 0
		}
		if !f.Hidden && n <= least && (nearest == "" || n < least) {
			nearest, least = f.Name, n
		}
	})
	return nearest
}

// near is how far off a word may be: of three letters, two others make another word.
func near(word string) int {
	if len(word) > 3 {
		return 2
	}
	return 1
}

// distance counts the letters to put in, take out or change to get from one word to the other.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := before
			if a[i] != b[j] {
				change++
			}
			before = row[j+1]
			row[j+1] = min(change, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}

// strictHelp has help refuse what it knows nothing of. A word after a command that has none below it is that command's
// own argument, and passes.
func strictHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	help, _, err := root.Find([]string{"help"})
	if err != nil || help == root {
		return
	}
	help.Run = nil
	help.RunE = func(_ *cobra.Command, args []string) error {
		cmd, rest, err := root.Find(args)
		switch {
		case err != nil:
			return usagef("%v", err)
		case len(rest) > 0 && cmd.HasSubCommands():
			return usagef("%s: no such command%s", strings.Join(args, " "), suggest(cmd, rest[0]))
		}
		cmd.InitDefaultHelpFlag()
		cmd.InitDefaultVersionFlag()
		return cmd.Help()
	}
}
