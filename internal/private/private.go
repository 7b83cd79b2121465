// Package private reads files that hold secrets, and refuses those that others could have read or put there: a token is
// only as secret as the file it came from.
//
// It owns nothing and starts no goroutine.
package private

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// ErrNotPrivate: a file that holds a secret is a link, or others than its owner can read or replace it.
var ErrNotPrivate = errors.New("not private to its owner")

// maxSecrets bounds a file with secrets, in bytes.
const maxSecrets = 64 << 10

// Words reads the secrets in a file: whatever stands between blanks and line ends. The error is [ErrNotPrivate], or says
// that there is none.
func Words(path string) ([]string, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	return WordsOf(f, path)
}

// WordsOf reads secrets from an open source, which the name is for errors about.
func WordsOf(r io.Reader, name string) ([]string, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxSecrets))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	words := strings.Fields(string(text))
	if len(words) == 0 {
		return nil, fmt.Errorf("%s: no token in it", name)
	}
	return words, nil
}
