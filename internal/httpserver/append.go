package httpserver

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"

	"legible.sh/mutex/api"
	"legible.sh/mutex/internal/lease"
)

// The answers of the hot path are appended by hand: an encoder that indents takes longer than the lock itself. A fuzz
// test holds them equal, byte for byte, to what encoding/json makes of the generated types.

// object appends one JSON object, a field a line, indented by two spaces more than what it stands in.
type object struct {
	b      []byte
	first  bool
	indent string
}

func newObject(b []byte) object { return object{b: append(b, '{'), first: true} }

func (o *object) key(k string) {
	if !o.first {
		o.b = append(o.b, ',')
	}
	o.first = false
	o.line("  \"")
	o.b = append(o.b, k...)
	o.b = append(o.b, `": `...)
}

// line begins a line within the object.
func (o *object) line(text string) {
	o.b = append(o.b, '\n')
	o.b = append(o.b, o.indent...)
	o.b = append(o.b, text...)
}

func (o *object) next(n *api.NextRequest) {
	o.key("next")
	o.b = append(o.b, '{')
	o.line("    \"method\": ")
	o.b = appendString(o.b, n.Method)
	o.b = append(o.b, ',')
	o.line("    \"path\": ")
	o.b = appendString(o.b, n.Path)
	o.line("  }")
}

func (o *object) string(k, v string) {
	o.key(k)
	o.b = appendString(o.b, v)
}

func (o *object) int(k string, v int64) {
	o.key(k)
	o.b = strconv.AppendInt(o.b, v, 10)
}

func (o *object) seconds(k string, d time.Duration) {
	o.key(k)
	if d >= 0 && d%time.Second == 0 { // most are
		o.b = strconv.AppendInt(o.b, int64(d/time.Second), 10)
		return
	}
	o.b = appendFloat(o.b, float64(d)/1e9) // one rounding; d.Seconds() has two, which show: 4.5809999999999995
}

func (o *object) time(k string, t time.Time) {
	o.key(k)
	o.b = append(o.b, '"')
	o.b = api.AppendTime(o.b, t)
	o.b = append(o.b, '"')
}

func (o *object) token(k string, t lease.Token) {
	o.key(k)
	o.b = append(o.b, '"')
	o.b = t.AppendReveal(o.b)
	o.b = append(o.b, '"')
}

func (o *object) strings(k string, all []string) {
	o.key(k)
	if len(all) == 0 {
		o.b = append(o.b, "[]"...)
		return
	}
	o.b = append(o.b, '[')
	for i, s := range all {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.b = append(o.b, "\n    "...)
		o.b = appendString(o.b, s)
	}
	o.b = append(o.b, "\n  ]"...)
}

// end closes the object and the line.
func (o *object) end() []byte { return append(o.b, "\n}\n"...) }

// appendString appends s as JSON. Plain text is the common case; anything else goes the long way.
func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c > 0x7e || c == '"' || c == '\\' {
			return appendEscaped(b, s)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

func appendEscaped(b []byte, s string) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes
	return append(b, bytes.TrimSuffix(buf.Bytes(), []byte("\n"))...)
}

// appendFloat appends a number of seconds as encoding/json does.
func appendFloat(b []byte, f float64) []byte {
	if f != 0 && (f < 1e-6 || f >= 1e21) {
		text, _ := json.Marshal(f) // finite: always encodes
		return append(b, text...)
	}
	return strconv.AppendFloat(b, f, 'f', -1, 64)
}
