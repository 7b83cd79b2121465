package api

import (
	"math"
	"strconv"
	"testing"
)

func FuzzParseNumber(f *testing.F) {
	for _, s := range []string{"60", "0.5", ".5", "5.", "1e3", "NaN", "0.1", "3600.000000001", "-1", "123456789012345.6", "", ".", "1.2.3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := parseNumber(s)
		want, wantErr := strconv.ParseFloat(s, 64)
		if (err == nil) != (wantErr == nil) || got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("%q: %v %v, want %v %v", s, got, err, want, wantErr)
		}
	})
}
