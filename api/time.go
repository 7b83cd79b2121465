package api

import "time"

// Time is an instant on the wire: RFC 3339 in UTC, always with three decimals.
type Time struct{ time.Time }

// AppendTime appends t to b as it stands on the wire, without quotes. It stands in every grant, and a layout with decimals
// that keep their zeros is read anew each time; the plain one has a short way in package time.
func AppendTime(b []byte, t time.Time) []byte {
	t = t.UTC()
	b = t.AppendFormat(b, time.RFC3339)
	ms := t.Nanosecond() / int(time.Millisecond)
	return append(b[:len(b)-len("Z")], '.', '0'+byte(ms/100), '0'+byte(ms/10%10), '0'+byte(ms%10), 'Z')
}

// MarshalJSON gives t as a string. It never fails.
func (t Time) MarshalJSON() ([]byte, error) {
	b := make([]byte, 0, len(`"2006-01-02T15:04:05.000Z"`))
	b = append(b, '"')
	b = AppendTime(b, t.Time)
	return append(b, '"'), nil
}
