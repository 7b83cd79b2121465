package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"legible.sh/mutex/internal/journal/disk"
	"legible.sh/mutex/internal/journal/record"
	"legible.sh/mutex/internal/lease"
)

// Damage is one line that cannot be read.
type Damage struct {
	Line   int   // from 1
	Offset int64 // of its first byte
	Bytes  int64 // its newline included
	Reason error // says nothing of what the line holds
}

var errTooLong = errors.New("longer than any record")

// survey is what one pass over a file found.
type survey struct {
	size    int64
	records int
	good    int64    // up to here everything could be read
	damage  []Damage // the lines that could not, in order
	open    bool     // the last record is whole but for its newline
	highest lease.Fence
	limited bool // a record told the highest fence of all when the file was begun

	first      line // the first damaged line, without its bytes
	marks      int  // records before the first damage that say all before them is safe
	goodAfter  int  // records after the first damage
	marksAfter int  // those of them that say so
}

// torn tells whether the damage is what a crash leaves of a write that was never acknowledged: a last line that is not
// finished, or a hole where a page never got to the disk, and nothing after it that says all before it was safe.
func (s *survey) torn() bool {
	switch {
	case len(s.damage) == 0 || s.marksAfter > 0:
		return false
	case len(s.damage) == 1 && !s.first.ended:
		return true
	}
	return s.first.holes && (s.goodAfter == 0 || s.marks > 0)
}

// examine reads a whole file. Each record is shown to use, with its line; beyond says that there was damage before it.
func examine(file disk.File, op disk.Op, use func(text []byte, r *record.Record, beyond bool)) (*survey, error) {
	s := &survey{}
	lines := newLineReader(file, op)
	for number := 1; ; number++ {
		l, err := lines.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", op, err)
		}
		s.size = l.offset + l.length
		s.line(number, l, use)
	}
	if len(s.damage) == 0 {
		s.good = s.size
	}
	return s, nil
}

func (s *survey) line(number int, l line, use func([]byte, *record.Record, bool)) {
	if len(bytes.TrimSpace(l.bytes)) == 0 && !l.holes {
		return
	}
	r, err := record.Parse(l.bytes)
	if l.length > maxLine {
		err = errTooLong
	}
	if err != nil {
		s.bad(number, l, err)
		return
	}
	s.records++
	s.open = !l.ended
	s.highest = max(s.highest, r.Event.Fence, r.High)
	s.limited = s.limited || r.Limits
	beyond := len(s.damage) > 0
	if beyond {
		s.goodAfter++
	}
	if r.Synced && beyond {
		s.marksAfter++
	} else if r.Synced {
		s.marks++
	}
	use(l.bytes, &r, beyond)
}

func (s *survey) bad(number int, l line, err error) {
	if len(s.damage) == 0 {
		s.good = l.offset
		s.first = l
		s.first.bytes = nil
	}
	s.damage = append(s.damage, Damage{Line: number, Offset: l.offset, Bytes: l.length, Reason: err})
}
