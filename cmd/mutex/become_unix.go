//go:build unix

package main

import (
	"fmt"
	"syscall"

	"legible.sh/mutex/internal/fence"
)

// become makes this process the program, which keeps the fence's lock open: it lasts as long as the program and what
// that starts, and signals, terminal and exit code are the program's own.
func become(f *fence.File, program string, args, environ []string) error {
	if err := f.Bequeath(); err != nil {
		return err
	}
	return fmt.Errorf("%s: %w", program, syscall.Exec(program, args, environ))
}
