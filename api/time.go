package api

import "time"

// Time is an instant on the wire: RFC 3339 in UTC, always with three decimals.
type Time struct{ time.Time }

// timeLayout keeps trailing zeros, which [time.RFC3339Nano] drops.
const timeLayout = "2006-01-02T15:04:05.000Z"

// AppendTime appends t to b as it stands on the wire, without quotes.
func AppendTime(b []byte, t time.Time) []byte {
	return t.UTC().AppendFormat(b, timeLayout)
}

// MarshalJSON gives t as a string. It never fails.
func (t Time) MarshalJSON() ([]byte, error) {
	b := make([]byte, 0, len(timeLayout)+2)
	b = append(b, '"')
	b = AppendTime(b, t.Time)
	return append(b, '"'), nil
}
