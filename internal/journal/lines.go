package journal

import (
	"bytes"
	"errors"
	"io"

	"legible.sh/mutex/internal/journal/disk"
)

// maxLine is the longest line that is taken for a record. The longest that is ever written is a few KiB.
const maxLine = 256 << 10

// line is one line of a file.
type line struct {
	bytes  []byte // without the newline; cut at maxLine
	offset int64
	length int64 // with the newline
	ended  bool  // by a newline
	holes  bool  // it has NUL bytes: a page that was never written reads so
}

// lineReader walks the lines of a file in one pass, and never holds more than a window of it.
type lineReader struct {
	file   disk.File
	op     disk.Op
	window []byte
	start  int   // of what is not yet given out, in the window
	at     int64 // the same place in the file
	read   int64 // how much of the file has been read
	eof    bool
}

const windowSize = 1 << 20

func newLineReader(file disk.File, op disk.Op) *lineReader {
	return &lineReader{file: file, op: op, window: make([]byte, 0, windowSize)}
}

// next gives the next line, valid until the one after it; [io.EOF] when there is none.
func (r *lineReader) next() (line, error) {
	for {
		rest := r.window[r.start:]
		if n := bytes.IndexByte(rest, '\n'); n >= 0 {
			return r.give(rest[:n], int64(n)+1, true), nil
		}
		if r.eof {
			if len(rest) == 0 {
				return line{}, io.EOF
			}
			return r.give(rest, int64(len(rest)), false), nil
		}
		if len(rest) >= maxLine {
			return r.overlong()
		}
		if err := r.fill(); err != nil {
			return line{}, err
		}
	}
}

func (r *lineReader) give(b []byte, length int64, ended bool) line {
	l := line{bytes: b, offset: r.at, length: length, ended: ended, holes: bytes.IndexByte(b, 0) >= 0}
	r.start += int(length)
	r.at += length
	return l
}

// fill moves what is left to the front of the window and reads on behind it.
func (r *lineReader) fill() error {
	left := copy(r.window[:cap(r.window)], r.window[r.start:])
	r.start = 0
	n, err := r.file.ReadAt(r.op, r.window[left:cap(r.window)], r.read)
	r.window = r.window[:left+n]
	r.read += int64(n)
	if errors.Is(err, io.EOF) {
		r.eof = true
		return nil
	}
	return err
}

// overlong skips a line that is longer than any record, and gives its beginning.
func (r *lineReader) overlong() (line, error) {
	l := line{bytes: bytes.Clone(r.window[r.start : r.start+maxLine]), offset: r.at}
	for {
		rest := r.window[r.start:]
		n := bytes.IndexByte(rest, '\n')
		piece := rest
		if n >= 0 {
			piece = rest[:n+1]
		}
		l.holes = l.holes || bytes.IndexByte(piece, 0) >= 0
		l.length += int64(len(piece))
		r.start += len(piece)
		r.at += int64(len(piece))
		if n >= 0 {
			l.ended = true
			return l, nil
		}
		if r.eof {
			return l, nil
		}
		if err := r.fill(); err != nil {
			return line{}, err
		}
	}
}
