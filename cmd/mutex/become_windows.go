package main

import (
	"errors"
	"os"
	"os/exec"

	"legible.sh/mutex/internal/cli"
	"legible.sh/mutex/internal/fence"
)

// become runs the program while this process has the fence's lock, and takes over its exit code.
func become(_ *fence.File, program string, args, environ []string) error {
	cmd := exec.Command(program, args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = os.Stdin, os.Stdout, os.Stderr, environ
	err := cmd.Run()
	if end := (*exec.ExitError)(nil); errors.As(err, &end) {
		return cli.ExitError(end.ExitCode(), nil)
	}
	return err
}
