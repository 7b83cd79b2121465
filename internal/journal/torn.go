package journal

import (
	"errors"

	"legible.sh/mutex/internal/journal/record"
)

// sector is what a disk writes as a whole. A kill in the middle of a write leaves whole pages, which are multiples of it.
const sector = 512

// loss is what the first damaged line tells of how it came to be.
type loss struct {
	explained bool  // it touches what was lost, or may
	sector    int64 // where its newline stands, if that may be where a sector was lost
}

// newLoss looks for a sector that never reached the disk. It reads as what was there before the write: newlines, where
// blank lines were laid; NUL bytes, where the file had become longer; nothing, where that was lost too. So the line
//
//   - has no newline: the file ends in it;
//   - has NUL bytes;
//   - is headless: it begins where a sector does, behind an empty line. Elsewhere no empty line stands before a record;
//   - or has lost its tail: its newline stands where a sector begins, it is the beginning of a record, and the sector is
//     blank, which the lines that follow must show.
//
// A record that was whole and went bad is none of that, but for one whose newline happens to stand there: it must also
// have become the beginning of another record, with nothing behind it.
func newLoss(l *line, reason error, headless bool) loss {
	if l.holes || !l.ended || headless {
		return loss{explained: true}
	}
	newline := l.offset + l.length - 1
	if newline%sector != 0 || !errors.Is(reason, record.ErrCutShort) {
		return loss{}
	}
	return loss{explained: true, sector: newline}
}

// follow looks at the next line that is not empty: if it begins in the sector that should be blank, that was not lost,
// unless it was the first of which no blank had reached the disk either.
func (f *loss) follow(l *line) {
	if f.sector > 0 && l.offset < f.sector+sector && !l.holes {
		f.explained = false
	}
	f.sector = 0
}

// torn tells whether the damage is what a crash leaves of a write that was never acknowledged. One batch is not safe at
// a time, and of its sectors a power cut keeps any. So there is torn what touches a lost sector, if no record after it
// says that all before was safe. It, and what follows it, is dropped.
//
// What follows may be whole records of the same batch. They were not acknowledged either, and must not be taken without
// those before them: a clock that was set counts for all times that follow it, and a floor stands before the grant of
// the topic that came back. So a batch counts up to its first loss. Where the lost sectors held whole lines, none is
// damaged, and the gap alone gives it away: a record without the mark, behind an empty line, where a sector begins or
// behind its first newline, is damaged too, for what it followed is missing (errBehind).
//
// Which records a mark is missing from says something only in a file that has marks: every file that is written now has
// one before its first batch. So what comes before that one is never torn.
func (s *survey) torn() bool {
	return len(s.damage) > 0 && s.marksAfter == 0 && s.first.explained && (s.goodAfter == 0 || s.marks > 0) && !s.cutOff()
}

// beginning tells whether a line is what a crash may leave as all of a file: the first generation's first record, not
// finished. A file of today never has less than its whole compact part.
func (l *line) beginning(reason error) bool {
	return !l.ended && !l.holes && errors.Is(reason, record.ErrCutShort)
}
