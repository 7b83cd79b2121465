package history

import (
	"context"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

var (
	// ErrUnavailable: the database cannot be read or written now. The locks do not care.
	ErrUnavailable = errors.New("the history is not available")
	// ErrBadQuery: a query's parameter is out of range; the text says which and what to send.
	ErrBadQuery = errors.New("bad history query")
	// ErrForeign: the file is a database, but not one of ours, or of a newer version. It is left alone.
	ErrForeign = errors.New("not a history database of this version")
)

func unavailable(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}

// primaryCode is SQLite's result code without the extension, 0 if the error is not SQLite's.
func primaryCode(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

// damaged tells that the file's content is at fault, which no retry will mend.
func damaged(err error) bool {
	switch primaryCode(err) {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return true
	}
	return false
}

// lasting tells that the fault lies with what was to be written, so that trying the same again is no use.
func lasting(err error) bool {
	if errors.Is(err, ErrForeign) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	switch primaryCode(err) {
	case sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_RANGE, sqlite3.SQLITE_TOOBIG:
		return true
	}
	return false
}
