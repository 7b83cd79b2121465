package journal

import (
	"fmt"
	"path/filepath"

	"legible.sh/mutex/internal/journal/record"
)

// Names in a data directory.
const (
	journalName = "mutex.jsonl"
	draftName   = "mutex.jsonl.new"
	lockName    = "mutex.lock"
)

// DamagedError says that acknowledged records cannot be read. Nothing was changed.
type DamagedError struct {
	Dir    string
	Damage Damage // the first of it
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("%s, line %d: %v. Run `mutex journal check %s` to see all of the damage, and "+
		"`mutex journal repair %s` to keep a backup and drop only what cannot be read",
		filepath.Join(e.Dir, journalName), e.Damage.Line, e.Damage.Reason, e.Dir, e.Dir)
}

// Unwrap gives what is wrong with the line.
func (e *DamagedError) Unwrap() error { return e.Damage.Reason }

// replay folds records in the order they were written.
type replay struct{ fold *fold }

// record takes in one record. Where the wall clock was set between two, all before moves with it.
func (p *replay) record(r *record.Record) {
	if r.Type != record.Clock {
		p.fold.record(r)
		return
	}
	next := anchor{at: r.Event.At, up: r.Up, boot: r.Boot}
	p.fold.shift(p.fold.anchor.step(Reading{Now: next.at, Up: next.up, Boot: next.boot}))
	p.fold.anchor = next
}

// line is the same for a record of a file that may have damage: what comes after it is not taken in.
func (p *replay) line(_ []byte, r *record.Record, beyond bool) {
	if !beyond {
		p.record(r)
	}
}
