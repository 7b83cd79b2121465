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

var (
	errTooLong = errors.New("longer than any record")
	errBehind  = errors.New("what stood before it was lost")
	errCutOff  = errors.New("the file was cut off: its compact part has no end")
)

// survey is what one pass over a file found.
type survey struct {
	size    int64
	text    int64 // end of the last line that is not empty; blank lines may follow, laid for records to come
	good    int64 // the same before any damage: the end of the last record that counts
	records int
	damage  []Damage // the lines that could not be read, in order
	open    bool     // the last record is whole but for its newline
	highest lease.Fence
	limits  int  // records that told the highest fence of all when the file was begun
	dated   bool // it begins with the clocks, as no file of the first generation does

	blanks     int64 // empty lines since the last that is not
	gaps       int64 // empty lines before any that is not
	first      loss  // what the first damaged line tells
	marks      int   // records before the first damage that say all before them is safe
	goodAfter  int   // records after the first damage
	marksAfter int   // those of them that say so
}

// examine reads a whole file. Each record is shown to use, with its line; beyond says that there was damage before it.
func examine(file disk.File, op disk.Op, use func(text []byte, r *record.Record, beyond bool)) (*survey, error) {
	s := &survey{}
	reader, lines := newLineReader(file, op), 0
	for number := 1; ; number++ {
		l, err := reader.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", op, err)
		}
		s.size = l.offset + l.length
		s.line(number, l, use)
		lines = number
	}
	if len(s.damage) == 0 && s.cutOff() {
		s.damage = append(s.damage, Damage{Line: lines + 1, Offset: s.size, Reason: errCutOff})
	}
	return s, nil
}

func (s *survey) line(number int, l line, use func([]byte, *record.Record, bool)) {
	if len(l.bytes) == 0 {
		s.blanks++
		return
	}
	s.text = l.offset + l.length
	s.first.follow(&l)
	beyond := len(s.damage) > 0
	if len(bytes.TrimSpace(l.bytes)) == 0 && !l.holes { // it may be a part of a record, so a gap before it goes on
		s.advance(beyond)
		return
	}
	headless := s.blanks > 0 && l.offset%sector == 0
	behind := s.blanks > 0 && l.offset%sector <= 1 // 1: of what was lost, the last newline is left
	s.gaps += s.blanks
	s.blanks = 0
	r, err := record.Parse(l.bytes)
	if l.length > maxLine {
		err = errTooLong
	}
	if err != nil {
		s.bad(number, &l, err, headless)
		return
	}
	if behind && !r.Synced && s.marks > 0 && !beyond {
		s.bad(number, &l, errBehind, true)
		beyond = true
	}
	s.record(&l, &r, beyond)
	use(l.bytes, &r, beyond)
}

// advance moves the end of what counts to here.
func (s *survey) advance(beyond bool) {
	if !beyond {
		s.good = s.text
	}
}

func (s *survey) record(l *line, r *record.Record, beyond bool) {
	s.advance(beyond)
	s.dated = s.dated || s.records == 0 && r.Type == record.Clock
	s.records++
	s.open = !l.ended
	s.highest = max(s.highest, r.Event.Fence, r.High)
	if r.Limits {
		s.limits++
	}
	if beyond {
		s.goodAfter++
	}
	switch {
	case r.Synced && beyond:
		s.marksAfter++
	case r.Synced:
		s.marks++
	}
}

func (s *survey) bad(number int, l *line, err error, headless bool) {
	if len(s.damage) == 0 {
		s.first = newLoss(l, err, headless)
		if s.records == 0 && !l.beginning(err) {
			s.first = loss{}
		}
	}
	s.damage = append(s.damage, Damage{Line: number, Offset: l.offset, Bytes: l.length, Reason: err})
}

// cutOff tells whether the compact part lacks its end, which says the limits again and is marked. No crash does that: all
// of it was safe before the file got its name. A copy that was not finished does, and whatever else cuts files.
func (s *survey) cutOff() bool {
	return (s.dated || s.limits > 0) && s.limits < 2 && s.marks+s.marksAfter == 0
}

// lost is how many bytes are dropped from the first damage on.
func (s *survey) lost() int64 {
	if len(s.damage) == 0 {
		return 0
	}
	return s.text - s.damage[0].Offset
}
