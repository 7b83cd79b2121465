package record

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"legible.sh/mutex/internal/lease"
)

const hexDigits = "0123456789abcdef"

// text writes a JSON string. Names are cleaned before they get here, so the common case is a plain copy.
func (b line) text(s string) line {
	b = append(b, '"')
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < 0x20 || c == 0x7f:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		case c < utf8.RuneSelf:
			b = append(b, c)
		default:
			r, size := utf8.DecodeRuneInString(s[i:])
			b = utf8.AppendRune(b, r) // a broken sequence becomes U+FFFD
			i += size
			continue
		}
		i++
	}
	return append(b, '"')
}

// unquote reads a JSON string with its quotes. The scanner has found its end already.
func unquote(raw []byte) (string, bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	if inner := raw[1 : len(raw)-1]; isPlain(inner) {
		return string(inner), true
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return s, true
}

// isPlain tells whether a string stands for itself.
func isPlain(b []byte) bool {
	for _, c := range b {
		if c < 0x20 || c >= 0x7f || c == '\\' || c == '"' {
			return false
		}
	}
	return true
}

// clean makes a text from a file fit to show, as the border does with one from a request; it is kept even where it is
// longer than a request may send.
func clean(s string) string {
	s, err := lease.CleanText(strings.ToValidUTF8(s, "\uFFFD"), len(s))
	if err != nil { // cannot be: it is UTF-8, and not longer than itself
		return ""
	}
	return s
}
