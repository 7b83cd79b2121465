package supervise

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"strings"
)

// Command is what to run. Its standard input, output and error are those of this process.
type Command struct {
	Argv []string // at least the program's name
	Path string   // where the program is, from [Look]; looked up from Argv[0] if empty
	Env  []string // the whole environment, the later of two equal names winning
}

// StartError says why a command could not be started.
type StartError struct {
	Program string
	Err     error
}

// Error names the program and what the system said of it.
func (e *StartError) Error() string {
	return fmt.Sprintf("cannot run %q: %v", e.Program, reason(e.Err))
}

// Unwrap gives what the system said.
func (e *StartError) Unwrap() error { return e.Err }

// Code is 127 for a program that is not there, 126 for one that cannot be executed, as with every shell.
func (e *StartError) Code() int {
	if errors.Is(e.Err, exec.ErrNotFound) || errors.Is(e.Err, fs.ErrNotExist) {
		return 127
	}
	return 126
}

// startCode is the exit code for an error of the start.
func startCode(err error) int {
	var start *StartError
	if errors.As(err, &start) {
		return start.Code()
	}
	return 126
}

// reason leaves out the name that an exec.Error repeats.
func reason(err error) error {
	var lookup *exec.Error
	if errors.As(err, &lookup) {
		return lookup.Err
	}
	return err
}

// Look finds a program as a shell would, so that a typing error is known before anyone queues for a lease.
func Look(program string) (string, error) {
	path, err := exec.LookPath(program)
	if err != nil && !errors.Is(err, exec.ErrDot) { // a PATH that names the current directory is the user's choice
		return "", &StartError{Program: program, Err: err}
	}
	return path, nil
}

// runIDVar marks the command's environment, so that its processes can be found by the guard even after they left
// their group and this process is gone. It is not a secret.
const runIDVar = "MUTEX_RUN_ID"

// environ gives the command's environment, with the run's mark.
func environ(env []string, runID string) []string {
	return unique(append(env[:len(env):len(env)], runIDVar+"="+runID))
}

// unique keeps each name once, the last one winning: programs differ in which of two they read.
func unique(env []string) []string {
	last := make(map[string]int, len(env))
	for i, pair := range env {
		name, _, _ := strings.Cut(pair, "=")
		last[name] = i
	}
	kept := make([]string, 0, len(env))
	for i, pair := range env {
		if name, _, _ := strings.Cut(pair, "="); last[name] == i {
			kept = append(kept, pair)
		}
	}
	return kept
}
