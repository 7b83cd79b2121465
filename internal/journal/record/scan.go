package record

import (
	"bytes"
	"encoding/json"
	"errors"
)

// ErrCutShort says that a line begins as a record does, and ends too early: every beginning of a record is that.
var ErrCutShort = errors.New("cut short")

// What else can be wrong with a line as JSON.
var (
	errNotObject = errors.New("not a JSON object")
	errSyntax    = errors.New("not JSON")
	errTrailing  = errors.New("something follows the JSON object")
)

// scanner walks one JSON object without building it: it finds where each value lies.
type scanner struct {
	b []byte
	i int
}

// object calls visit with each name, still quoted, and its raw value.
func (s *scanner) object(visit func(name, value []byte)) error {
	if s.peek() != '{' {
		return errNotObject
	}
	s.i++
	if s.peek() == '}' {
		s.i++
		return s.end()
	}
	for {
		name, value, err := s.member()
		if err != nil {
			return err
		}
		visit(name, value)
		switch s.peek() {
		case ',':
			s.i++
		case '}':
			s.i++
			return s.end()
		default:
			return s.unexpected()
		}
	}
}

func (s *scanner) member() (name, value []byte, err error) {
	if s.peek() != '"' {
		return nil, nil, s.unexpected()
	}
	if name, err = s.text(); err != nil {
		return nil, nil, err
	}
	if s.peek() != ':' {
		return nil, nil, s.unexpected()
	}
	s.i++
	value, err = s.value()
	return name, value, err
}

// peek skips blanks and gives the next byte, 0 at the end.
func (s *scanner) peek() byte {
	for ; s.i < len(s.b); s.i++ {
		switch c := s.b[s.i]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

func (s *scanner) end() error {
	if s.peek(); s.i < len(s.b) {
		return errTrailing
	}
	return nil
}

func (s *scanner) unexpected() error {
	if s.i >= len(s.b) {
		return ErrCutShort
	}
	return errSyntax
}

// text gives the string that begins here, with its quotes.
func (s *scanner) text() ([]byte, error) {
	start := s.i
	for i := s.i + 1; ; {
		n := bytes.IndexByte(s.b[i:], '"')
		if n < 0 {
			s.i = len(s.b)
			return nil, ErrCutShort
		}
		i += n + 1
		if !escaped(s.b[start+1 : i-1]) {
			s.i = i
			raw := s.b[start:i]
			if !isPlain(raw[1:len(raw)-1]) && !json.Valid(raw) {
				return nil, errSyntax
			}
			return raw, nil
		}
	}
}

// escaped tells whether what follows b is escaped: b ends in an odd number of backslashes.
func escaped(b []byte) bool {
	n := len(b)
	for n > 0 && b[n-1] == '\\' {
		n--
	}
	return (len(b)-n)%2 == 1
}

// value gives whatever value begins here, raw.
func (s *scanner) value() ([]byte, error) {
	switch s.peek() {
	case '"':
		return s.text()
	case '{', '[':
		return s.nested()
	}
	start := s.i
	for s.i < len(s.b) && !delimiter(s.b[s.i]) {
		s.i++
	}
	raw := s.b[start:s.i]
	if isDigits(raw) || json.Valid(raw) {
		return raw, nil
	}
	return nil, s.unexpected()
}

// isDigits tells whether raw is the kind of number that nearly all values are.
func isDigits(raw []byte) bool {
	if len(raw) == 0 || (raw[0] == '0' && len(raw) > 1) {
		return false
	}
	for _, c := range raw {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// nested gives an object or array. No record has one: it is a later version's, and skipped.
func (s *scanner) nested() ([]byte, error) {
	start, depth := s.i, 0
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case '"':
			if _, err := s.text(); err != nil {
				return nil, err
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		s.i++
		if depth == 0 {
			if raw := s.b[start:s.i]; json.Valid(raw) {
				return raw, nil
			}
			return nil, errSyntax
		}
	}
	return nil, ErrCutShort
}

func delimiter(c byte) bool {
	switch c {
	case ',', '}', ']', ' ', '\t', '\r', '\n':
		return true
	}
	return false
}
