package lease

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Longest texts a holder may say about itself, in code points.
const (
	MaxNameLength   = 128
	MaxReasonLength = 256
	MaxHostLength   = 255
)

// Who is what a holder or waiter says about itself: shown to whoever reads the status, trusted for nothing.
type Who struct {
	Name   string
	Reason string
	Host   string
	PID    int // 0: not said
}

// CleanText makes a stranger's text fit to show: control characters, line separators and bidirectional
// formatting are stripped, blanks around it trimmed. Longer than limit code points after that, or not UTF-8:
// an error. An empty result is no error; the caller decides what stands in for it.
func CleanText(s string, limit int) (string, error) {
	if !utf8.ValidString(s) {
		return "", fmt.Errorf("%w: not UTF-8; send UTF-8, percent-encoded in a header", ErrBadText)
	}
	if !plainASCII(s) {
		s = strings.Map(dropUnsafe, s)
	}
	s = strings.TrimSpace(s)
	if len(s) > limit && utf8.RuneCountInString(s) > limit {
		return "", fmt.Errorf("%w: %d characters; send at most %d", ErrBadText, utf8.RuneCountInString(s), limit)
	}
	return s, nil
}

// plainASCII is the common case, told without a copy.
func plainASCII(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}

func dropUnsafe(r rune) rune {
	if unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp) {
		return -1
	}
	return r
}
