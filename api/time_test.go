package api_test

import (
	"encoding/json"
	"testing"
	"time"

	"legible.sh/mutex/api"
)

func TestTimeKeepsItsDecimals(t *testing.T) {
	cet := time.FixedZone("CET", 3600)
	for want, in := range map[string]time.Time{
		`"2026-03-01T12:00:00.000Z"`: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		`"2026-03-01T12:00:00.500Z"`: time.Date(2026, 3, 1, 12, 0, 0, 5e8, time.UTC),
		`"2026-03-01T12:00:00.999Z"`: time.Date(2026, 3, 1, 13, 0, 0, 999_999_999, cet),
	} {
		got, err := json.Marshal(api.Time{Time: in})
		if err != nil || string(got) != want {
			t.Errorf("%v is written %s, want %s (%v)", in, got, want, err)
		}
		var back api.Time
		if err := json.Unmarshal(got, &back); err != nil || !back.Equal(in.Truncate(time.Millisecond)) {
			t.Errorf("%s is read as %v (%v)", got, back, err)
		}
	}
}
