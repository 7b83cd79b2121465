package journal

import (
	"errors"
	"fmt"
	"path/filepath"

	"legible.sh/mutex/internal/journal/disk"
	"legible.sh/mutex/internal/journal/record"
	"legible.sh/mutex/internal/lease"
)

// Report says what is in a journal, and what is wrong with it.
type Report struct {
	Path    string
	Size    int64
	Blank   int64 // of it, the blank lines at the end, laid for records to come
	Records int
	Topics  int // live or declared, at the time of the report
	Leases  int
	Floor   lease.Fence
	Torn    int64    // bytes at the end that were never acknowledged: no damage, a start drops them
	Damage  []Damage // lines that were acknowledged and cannot be read: a start refuses

	// What a repair did. It does nothing where there is no damage.
	Backup   string      // where the file as it was is kept
	RaisedTo lease.Fence // every fence goes on above this one
}

// Check reads the journal in a directory and changes nothing. A server may be running on it: what it is just writing
// reads as torn then, and what was blank when it was read, but not any more when the rest was, reads as lost. So where
// there seems to be damage, it looks again.
func Check(dir string, options Options) (*Report, error) {
	options = options.withDefaults()
	file, err := options.Disk.Open(disk.CheckOpen, filepath.Join(dir, journalName))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", disk.CheckOpen, err)
	}
	defer file.Close()
	r, err := checkOnce(dir, file, options)
	if err == nil && len(r.Damage) > 0 {
		r, err = checkOnce(dir, file, options)
	}
	return r, err
}

// checkOnce counts all that can be read where there is damage, as a repair keeps it, and where there is none what a start
// takes in: nothing behind a tear.
func checkOnce(dir string, file disk.File, options Options) (*Report, error) {
	into := replay{fold: newFold(options.Keep, options.ReserveSpan)}
	found, err := examine(file, disk.CheckRead, func(_ []byte, r *record.Record, _ bool) { into.record(r) })
	if err == nil && found.torn() {
		into = replay{fold: newFold(options.Keep, options.ReserveSpan)}
		found, err = examine(file, disk.CheckRead, into.line)
	}
	if err != nil {
		return nil, err
	}
	return report(dir, found, &into, options), nil
}

func report(dir string, found *survey, into *replay, options Options) *Report {
	now := options.Clock()
	into.fold.shift(into.fold.anchor.step(now))
	into.fold.wake(instantOf(now.Now))
	r := &Report{
		Path: filepath.Join(dir, journalName), Size: found.size, Blank: found.size - found.text, Records: found.records,
		Topics: len(into.fold.names()), Leases: into.fold.leases(), Floor: into.fold.floor,
	}
	if found.torn() {
		r.Torn = found.lost()
		r.Records -= found.goodAfter
	} else {
		r.Damage = found.damage
	}
	return r
}

// ErrNoDamage says that a repair found nothing to do.
var ErrNoDamage = errors.New("nothing is damaged")
