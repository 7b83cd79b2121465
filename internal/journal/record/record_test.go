package record_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"legible.sh/mutex/internal/journal/record"
	"legible.sh/mutex/internal/lease"
)

var (
	at    = time.UnixMilli(1_800_000_000_123)
	token = lease.Token{0xfe, 15: 1}
	key   = lease.KeyOf("secret")
	who   = lease.Who{Name: "a\"b\\c é 🔒", Reason: "why", Host: "box", PID: 4242}
)

// Every durable event comes back as it went in, as far as it must, and every beginning of its line is one.
func TestEventsComeBack(t *testing.T) {
	for _, e := range []lease.Event{
		{Kind: lease.Declared, Capacity: 3, Fence: 7},
		{Kind: lease.Granted, Declares: true, At: at, Since: at, Token: token, Key: key, Who: who, Fence: lease.MaxFence, Slot: 2, Capacity: 3,
			TTL: 1234567 * time.Nanosecond, Expires: at.Add(time.Minute), Enqueued: at.Add(-time.Second)},
		{Kind: lease.Granted, At: at, Since: at, Token: token, Who: lease.Who{Name: "n"}, Fence: 1, TTL: time.Hour, Expires: at.Add(time.Hour)},
		{Kind: lease.Renewed, At: at, Token: token, Fence: 1, TTL: 100 * time.Millisecond, Expires: at.Add(time.Minute)},
		{Kind: lease.Released, At: at, Token: token, Fence: 1},
		{Kind: lease.Expired, At: at, Token: token, Fence: 1},
		{Kind: lease.Forced, At: at, Token: token, Fence: 1, By: "admin"},
		{Kind: lease.Enqueued, At: at, Enqueued: at, Key: key, Who: who, TTL: time.Minute},
		{Kind: lease.Left, At: at, Key: key, Cause: lease.GaveUp},
		{Kind: lease.Left, At: at, Key: key},
		{Kind: lease.Spent, At: at, Key: key},
	} {
		line := record.AppendEvent(nil, "deploy:prod", &e)
		if !json.Valid(line) || line[len(line)-1] != '\n' || bytes.Count(line, []byte("\n")) != 1 {
			t.Errorf("%s: not a line of JSON: %s", e.Kind, line)
		}
		for _, text := range [][]byte{line, record.AppendSynced(nil, line)} {
			r, err := record.Parse(text)
			if err != nil || r.Topic != "deploy:prod" || r.Synced != (len(text) > len(line)) {
				t.Errorf("%s: %+v, %v", text, r, err)
			}
			if r.Event != e {
				t.Errorf("%s:\ngot  %+v\nwant %+v", text, r.Event, e)
			}
			for n := 1; n < len(text)-1; n++ {
				if _, err := record.Parse(text[:n]); !errors.Is(err, record.ErrCutShort) {
					t.Errorf("the first %d bytes of %s: %v", n, text, err)
				}
			}
		}
	}
}

// Events that need not be durable have no line.
func TestNotDurable(t *testing.T) {
	for _, e := range []lease.Event{
		{Kind: lease.Enqueued, Token: token}, {Kind: lease.Left}, {Kind: lease.Detached, Key: key}, {Kind: lease.Reattached, Key: key},
		{Kind: lease.Forgotten, Key: key},
	} {
		if line := record.AppendEvent(nil, "x", &e); len(line) != 0 {
			t.Errorf("%s: %s", e.Kind, line)
		}
	}
}

// The records that are no event come back too.
func TestOthersComeBack(t *testing.T) {
	r, err := record.Parse(record.AppendFloor(nil, "x", 5))
	if err != nil || r.Type != record.Floor || r.Topic != "x" || r.Event.Fence != 5 || r.Limits {
		t.Errorf("floor: %+v, %v", r, err)
	}
	r, err = record.Parse(record.AppendLimits(nil, 5, 9))
	if err != nil || r.Topic != "" || r.Event.Fence != 5 || !r.Limits || r.High != 9 {
		t.Errorf("limits: %+v, %v", r, err)
	}
	r, err = record.Parse(record.AppendRaise(nil, 12))
	if err != nil || r.Type != record.Raise || r.Event.Fence != 12 {
		t.Errorf("raise: %+v, %v", r, err)
	}
	up := 90*time.Minute + 17
	r, err = record.Parse(record.AppendClock(nil, at, "boot/one", up))
	if err != nil || r.Type != record.Clock || !r.Event.At.Equal(at) || r.Boot != "boot/one" || r.Up != up {
		t.Errorf("clock: %+v, %v", r, err)
	}
}

// Texts are written so that they cannot break out of their line, and read so that they can be shown.
func TestTexts(t *testing.T) {
	for name, want := range map[string]string{
		"plain":               "plain",
		"q\"b\\s/":            "q\"b\\s/",
		"line\nbreak\x00\x1b": "linebreak",
		"bidi \u202e text":    "bidi  text",
		"broken \xff utf":     "broken \uFFFD utf",
		"del\x7f":             "del",
		"\u2028sep":           "sep",
	} {
		e := lease.Event{Kind: lease.Granted, At: at, Since: at, Token: token, Who: lease.Who{Name: name}, Fence: 1, TTL: time.Second, Expires: at}
		line := record.AppendEvent(nil, "x", &e)
		if bytes.Count(line, []byte("\n")) != 1 || !json.Valid(line) {
			t.Errorf("%q: %s", name, line)
		}
		r, err := record.Parse(line)
		if err != nil || r.Event.Who.Name != want {
			t.Errorf("%q came back as %q, want %q, %v", name, r.Event.Who.Name, want, err)
		}
	}
}

// What is not a record says why, and repeats nothing of it.
func TestNotARecord(t *testing.T) {
	const secret = "0123456789abcdef0123456789abcdef"
	grant := `{"t":"grant","topic":"x","lease":"` + secret + `","name":"n","fence":1,"since":1000,"expires":2000}`
	if _, err := record.Parse([]byte(grant)); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		``:                                     "not a JSON object",
		`[1]`:                                  "not a JSON object",
		`{"t":"grant"`:                         "cut short",
		grant[:len(grant)-20]:                  "cut short",
		grant + grant:                          "something follows",
		`{"t" "grant"}`:                        "not JSON",
		`{"t":"gr` + "\x00" + `"}`:             "not JSON",
		`{"t":5}`:                              "t is not a string",
		`{"topic":"x"}`:                        "t is missing",
		`{"t":"topic","capacity":1,"fence":1}`: "a topic whose topic is missing",
		`{"t":"topic","topic":"a b","capacity":1,"fence":1}`:               "is not a topic name",
		`{"t":"topic","topic":"x","capacity":1e9,"fence":1}`:               "whose capacity is not an integer",
		`{"t":"topic","topic":"x","capacity":-1,"fence":1}`:                "whose capacity is not an integer",
		strings.Replace(grant, `"fence":1`, `"fence":1.5`, 1):              "whose fence is not an integer",
		strings.Replace(grant, `"fence":1`, `"fence":null`, 1):             "whose fence is missing",
		strings.Replace(grant, `"fence":1`, `"fence":9007199254740992`, 1): "whose fence is not an integer from 0 to 9007199254740991",
		strings.Replace(grant, secret, "f"+secret, 1):                      "whose lease is not 32 lower-case hex digits",
		strings.Replace(grant, `1000`, `1e3`, 1):                           "whose since is not an integer",
		strings.Replace(grant, `1000`, `2000`, 1):                          "whose expires is not after since",
		strings.Replace(grant, `"name"`, `"key":"ab","name"`, 1):           "whose key is not 64 hex digits",
		strings.Replace(grant, `"name"`, `"ttl":"60","name"`, 1):           "whose ttl is not a number of milliseconds",
		strings.Replace(grant, `"name"`, `"ttl":1.0000001,"name"`, 1):      "whose ttl is not a number of milliseconds",
		`{"t":"spent","topic":"x","at":1}`:                                 "a spent whose key is missing",
		`{"t":"floor","topic":"x"}`:                                        "a floor whose fence is missing",
	} {
		_, err := record.Parse([]byte(line))
		if !errors.Is(err, record.ErrBadRecord) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
		if err != nil && strings.Contains(err.Error(), secret[:8]) {
			t.Errorf("the error repeats the lease: %v", err)
		}
	}
}

// A later version may have types and fields that are unknown here, of any kind, even under names known here.
func TestUnknownIsSkipped(t *testing.T) {
	for _, line := range []string{
		`{"t":"quorum"}`,
		`{"t":"quorum","topic":7,"lease":["a",{"b":"}\"]"}],"fence":-1.5e3}`,
		` { "t" : "quorum" , "x" : [ ] } `,
	} {
		if r, err := record.Parse([]byte(line)); err != nil || r.Type != record.Unknown {
			t.Errorf("%s: %+v, %v", line, r, err)
		}
	}
	r, err := record.Parse([]byte(`{"fence":4,"t":"topic","zone":{"a":[1,2,{}]},"capacity":2,"topic":"x","\u0066ence":9}`))
	if err != nil || r.Event.Fence != 4 || r.Event.Capacity != 2 {
		t.Errorf("%+v, %v", r, err)
	}
}
