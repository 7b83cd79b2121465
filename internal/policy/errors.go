package policy

import (
	"errors"
	"fmt"
	"strings"

	"legible.sh/mutex/internal/private"
)

var (
	// ErrUnauthorized: there is no token, or none that is known here. Answer 401.
	ErrUnauthorized = errors.New("this needs a token that is known here")
	// ErrForbidden: the token is known, but may not do this. Answer 403.
	ErrForbidden = errors.New("this token may not do that")
	// ErrNoAdmin: only the admin might, and no admin token is set. Answer 403.
	ErrNoAdmin = errors.New("no admin token is set")

	// ErrBadFile is what a [*FileError] is.
	ErrBadFile = errors.New("the policy file has mistakes")
	// ErrNotPrivate: a file that holds a token is a link, or others than its owner can read or replace it.
	ErrNotPrivate = private.ErrNotPrivate
	// ErrNoAdminFile: no server on this address has left an admin token for this user.
	ErrNoAdminFile = errors.New("no admin token was left by a local server")
)

// Problem is one mistake in a policy file.
type Problem struct {
	Line int // from 1; 0 when the whole file is meant
	Text string
}

// FileError says all that is wrong with a policy file.
type FileError struct {
	Path     string
	Problems []Problem // by line
}

// Error gives one line for each problem, as compilers do: path:line: text.
func (e *FileError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		if p.Line == 0 {
			lines[i] = fmt.Sprintf("%s: %s", e.Path, p.Text)
		} else {
			lines[i] = fmt.Sprintf("%s:%d: %s", e.Path, p.Line, p.Text)
		}
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives [ErrBadFile].
func (e *FileError) Unwrap() error { return ErrBadFile }
