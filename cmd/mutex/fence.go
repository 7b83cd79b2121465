package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"legible.sh/mutex/internal/cli"
	"legible.sh/mutex/internal/fence"
)

// codeStale is the exit code of a stale fence: next to 75, by which run says that it lost its lease.
const codeStale = 76

const fenceLong = `A lease can end while its holder sleeps, and the holder does not know. The fence of its grant is the cure: a number
that rises with each grant of a topic. A resource that keeps the highest one it has seen refuses whoever comes late.
These commands keep it for resources that cannot.`

// fenceVariable is what "mutex run" sets, and guard too.
const fenceVariable = "MUTEX_FENCE"

const fenceEnv = `MUTEX_FENCE   the fence, where N is not given; "mutex run" sets it`

// fences has what keeps the highest fence for resources that cannot do so themselves.
func fences() *cobra.Command {
	cmd := &cobra.Command{
		Use: "fence", Short: "Refuse writes of holders that lost their lease", Long: fenceLong, RunE: cli.NeedsVerb,
		Annotations: map[string]string{cli.NoteAlone: "yes"},
	}
	cmd.AddCommand(guard(), fenceCheck(), fenceShow())
	return cmd
}

// fenceOf is the fence that was given, or the one of the run that this command is part of.
func fenceOf(args []string) (int64, error) {
	from, text := "", os.Getenv(fenceVariable)
	switch {
	case len(args) > 0:
		text = args[0]
	case text == "":
		return 0, cli.UsageError(errors.New("which fence? Give the number from the grant, or set MUTEX_FENCE"))
	case strings.Contains(text, ","):
		return 0, cli.UsageError(fmt.Errorf("MUTEX_FENCE has several, %s, one a topic: give the one that counts here", text))
	default:
		from = "MUTEX_FENCE: "
	}
	n, err := fence.Parse(text)
	if err != nil {
		return 0, cli.UsageError(fmt.Errorf("%s%w", from, err))
	}
	return n, nil
}

func stale(err error) error {
	if errors.Is(err, fence.ErrStale) {
		return cli.ExitError(codeStale, err)
	}
	return err
}
