package record_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"legible.sh/mutex/internal/journal/record"
	"legible.sh/mutex/internal/lease"
)

// The scanner takes exactly what is a JSON object, and what is read can be written and read again.
func FuzzParse(f *testing.F) {
	e := lease.Event{Kind: lease.Granted, At: at, Since: at, Token: token, Key: key, Who: who, Fence: 3, TTL: 5, Expires: at}
	f.Add(record.AppendEvent(nil, "x", &e))
	f.Add(record.AppendClock(nil, at, "b", 5))
	f.Add([]byte(`{"t":"floor","fence":1,"x":[{"\\":"\""}],"y":-0.1e+5,"z":null}`))
	f.Add([]byte(`{"synced":true,"t":"leave","topic":"x","key":"","at":0,"cause":"gave up"}`))
	f.Add([]byte(`{"t":"wait","a":"\ud800","b":tru}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		r, err := record.Parse(line)
		if err == nil && !json.Valid(line) {
			t.Fatalf("read what is not JSON: %q", line)
		}
		if err != nil {
			object := bytes.HasPrefix(bytes.TrimLeft(line, " \t\r\n"), []byte("{"))
			if object && json.Valid(line) && !strings.Contains(err.Error(), "whose") {
				t.Fatalf("refused a JSON object: %q: %v", line, err)
			}
			return
		}
		if r.Type == record.Unknown || r.Type >= record.Floor || (r.Event.Kind == lease.Enqueued && r.Event.Key.IsZero()) {
			return
		}
		again := record.AppendEvent(nil, r.Topic, &r.Event)
		r2, err := record.Parse(again)
		if err != nil {
			t.Fatalf("%q was read, and written as %q: %v", line, again, err)
		}
		if twice := record.AppendEvent(nil, r2.Topic, &r2.Event); !bytes.Equal(again, twice) {
			t.Fatalf("written as %q, and then as %q", again, twice)
		}
	})
}
