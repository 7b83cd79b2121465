package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"legible.sh/mutex/internal/cli"
	"legible.sh/mutex/internal/fence"
)

const guardLong = `guard runs COMMAND only if N is not lower than the highest fence that FILE has seen, and keeps N there. To
everybody else who goes through FILE, the check, the keeping and the whole of COMMAND are one step: nobody with
another fence comes in between, even if this process is killed.

N is kept on disk before COMMAND starts, and stays kept if it fails: half of it may have been done, and a lower fence
must not write over that. The lock is on FILE.lock. It is free when COMMAND and what it left running have ended.

FILE binds only those who go through it, on one machine or on a file system that locks across machines.`

const guardExit = `0-255   the command's own
76      stale: FILE has seen a higher fence, and COMMAND was not run
1       an error: FILE is locked for longer than --wait, or cannot be read or kept
2       wrong usage
126     the command cannot be executed
127     there is no such command`

func guard() *cobra.Command {
	var file string
	var wait = cli.Duration(defaultWait)
	cmd := &cobra.Command{
		Use: "guard --file FILE [N] [flags] -- COMMAND...", Short: "Run a command unless its fence is stale",
		DisableFlagsInUseLine: true, Args: cobra.ArbitraryArgs,
		Long:        guardLong,
		Annotations: map[string]string{cli.NoteAlone: "yes", cli.NoteEnvironment: fenceEnv, cli.NoteExit: guardExit},
		Example: `  mutex run site -- mutex fence guard --file site.fence -- rsync -a build/ /srv/site/
  mutex fence guard --file state.fence 42 -- ./write.sh || test $? != 76 || echo "somebody else has it now" >&2`,
		RunE: func(cmd *cobra.Command, args []string) error {
			n, command, err := guarded(args, cmd.ArgsLenAtDash())
			switch {
			case err != nil:
				return err
			case file == "":
				return cli.UsageError(errors.New("which file? Name it with --file"))
			}
			return runGuarded(cmd.Context(), file, n, wait.D(), command)
		},
	}
	cmd.Flags().StringVar(&file, "file", "", "the `FILE` that has the highest fence; made if it is not there")
	cmd.Flags().Var(&wait, "wait", "how long to wait for another guard's command to end; 0 fails at once")
	return cmd
}

// guarded takes the fence and the command from what stands before and behind the dash.
func guarded(args []string, dash int) (n int64, command []string, err error) {
	switch {
	case dash < 0 || dash == len(args):
		return 0, nil, cli.UsageError(errors.New("which command? Put it behind --"))
	case dash > 1:
		return 0, nil, cli.UsageError(fmt.Errorf("%q is not one fence", strings.Join(args[:dash], " ")))
	}
	n, err = fenceOf(args[:dash])
	return n, args[dash:], err
}

// runGuarded gives the whole process to the command, which then holds the lock.
func runGuarded(ctx context.Context, file string, n int64, wait time.Duration, command []string) error {
	program, err := exec.LookPath(command[0])
	if err != nil {
		return cannotRun(err)
	}
	f, err := openFence(ctx, file, wait)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Admit(n); err != nil {
		return stale(err)
	}
	if err := os.Setenv(fenceVariable, strconv.FormatInt(n, 10)); err != nil {
		return err
	}
	return cannotRun(become(f, program, command, os.Environ()))
}

func openFence(ctx context.Context, file string, wait time.Duration) (*fence.File, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, wait, errors.New("--wait is over"))
	defer cancel()
	return fence.Open(ctx, file)
}

// cannotRun gives what a shell would exit with.
func cannotRun(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return cli.ExitError(127, err)
	case errors.Is(err, fs.ErrPermission):
		return cli.ExitError(126, err)
	}
	return err
}
