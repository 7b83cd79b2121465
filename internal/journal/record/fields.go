package record

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"legible.sh/mutex/internal/lease"
)

// fieldName is a field of some record.
type fieldName uint8

const (
	fNone fieldName = iota
	fT
	fSynced
	fTopic
	fLease
	fKey
	fName
	fReason
	fHost
	fPID
	fFence
	fHigh
	fSlot
	fCapacity
	fTTL
	fAt
	fSince
	fExpires
	fEnqueued
	fBy
	fCause
	fBoot
	fUp
	fieldCount
)

var fieldNames = [...]string{
	fT: "t", fSynced: "synced", fTopic: "topic", fLease: "lease", fKey: "key", fName: "name", fReason: "reason", fHost: "host",
	fPID: "pid", fFence: "fence", fHigh: "high", fSlot: "slot", fCapacity: "capacity", fTTL: "ttl", fAt: "at",
	fSince: "since", fExpires: "expires", fEnqueued: "enqueued", fBy: "by", fCause: "cause", fBoot: "boot", fUp: "up",
}

var fieldIndex = func() map[string]fieldName {
	m := make(map[string]fieldName)
	for k, name := range fieldNames {
		m[name] = fieldName(k)
	}
	return m
}()

// Bounds of what a file may say.
const (
	maxMillis   = int64(1<<63-1) / int64(time.Millisecond) / 2 // year 2116: times can be added up in nanoseconds
	maxDuration = 100 * 365 * 24 * time.Hour
)

// fields are the raw values of one line, and the first thing found wrong with them. Only what the line's type has is
// looked at, so that a later version's type may use the same name for something else.
type fields struct {
	raw [fieldCount][]byte
	err error
}

func (f *fields) visit(name, value []byte) {
	if k := fieldIndex[string(name[1:len(name)-1])]; k != fNone {
		f.raw[k] = value
	}
}

// has tells whether the line says the field; null says nothing.
func (f *fields) has(k fieldName) bool { return f.raw[k] != nil && string(f.raw[k]) != "null" }

func (f *fields) fail(k fieldName, what string) {
	if f.err == nil {
		f.err = fmt.Errorf("whose %s %s", fieldNames[k], what)
	}
}

func (f *fields) required(k fieldName) *fields {
	if !f.has(k) {
		f.fail(k, "is missing")
	}
	return f
}

// int reads an integer from 0 to limit.
func (f *fields) int(k fieldName, limit int64) int64 {
	f.required(k)
	n, ok := parseDigits(f.raw[k])
	if !ok || n > limit {
		f.fail(k, "is not an integer from 0 to "+strconv.FormatInt(limit, 10))
		return 0
	}
	return n
}

func parseDigits(raw []byte) (n int64, ok bool) {
	if len(raw) == 0 || len(raw) > 18 {
		return 0, false
	}
	for _, c := range raw {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}

func (f *fields) time(k fieldName) time.Time { return time.UnixMilli(f.int(k, maxMillis)) }

// duration reads milliseconds with up to six decimals.
func (f *fields) duration(k fieldName) time.Duration {
	f.required(k)
	d, ok := parseMillis(f.raw[k])
	if !ok || d > maxDuration {
		f.fail(k, "is not a number of milliseconds")
		return 0
	}
	return d
}

func parseMillis(raw []byte) (time.Duration, bool) {
	whole, decimals := raw, []byte(nil)
	for i, c := range raw {
		if c == '.' {
			whole, decimals = raw[:i], raw[i+1:]
			break
		}
	}
	n, ok := parseDigits(whole)
	if !ok || n > int64(maxDuration/time.Millisecond) || len(decimals) > 6 {
		return 0, false
	}
	d := time.Duration(n) * time.Millisecond
	unit := time.Millisecond
	for _, c := range decimals {
		if c < '0' || c > '9' {
			return 0, false
		}
		unit /= 10
		d += time.Duration(c-'0') * unit
	}
	return d, true
}

func (f *fields) text(k fieldName) string {
	f.required(k)
	s, ok := unquote(f.raw[k])
	if !ok {
		f.fail(k, "is not a string")
	}
	return s
}

// optionalText is for what is only shown, so it is made fit for that.
func (f *fields) optionalText(k fieldName) string {
	if !f.has(k) {
		return ""
	}
	return clean(f.text(k))
}

func (f *fields) key() (k lease.Key) {
	raw := f.text(fKey)
	if n, err := hex.Decode(k[:], []byte(raw[:min(len(raw), 2*len(k))])); err != nil || n != len(k) || len(raw) != 2*len(k) || k.IsZero() {
		f.fail(fKey, "is not 64 hex digits")
		return lease.Key{}
	}
	return k
}
