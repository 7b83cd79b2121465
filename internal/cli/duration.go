package cli

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

var errDuration = errors.New("a duration is a number of seconds or has a unit: 60, 0.5, 20m, 1h30m, 7d")

// ParseDuration reads a duration as users write it: seconds without a unit (60, 0.5), or with units (20m, 1h30m,
// 7d). It is never negative.
func ParseDuration(s string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(s, "d"); ok {
		return scaled(days, 24*time.Hour)
	}
	if d, err := scaled(s, time.Second); err == nil {
		return d, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, errDuration
	}
	return d, nil
}

func scaled(number string, unit time.Duration) (time.Duration, error) {
	f, err := strconv.ParseFloat(number, 64)
	if err != nil || !(f >= 0 && f <= math.MaxInt64/float64(unit)/2) {
		return 0, errDuration
	}
	return time.Duration(f * float64(unit)), nil
}

// Duration is a flag's value: see [ParseDuration].
type Duration time.Duration

// Set parses s.
func (d *Duration) Set(s string) error {
	v, err := ParseDuration(s)
	if err == nil {
		*d = Duration(v)
	}
	return err
}

// Type is what help calls the value.
func (*Duration) Type() string { return "duration" }

// String is the shortest way to write it.
func (d *Duration) String() string {
	if *d == 0 {
		return "0" // which help takes for no default
	}
	return brief(time.Duration(*d))
}

// D is the value as the standard library has it.
func (d *Duration) D() time.Duration { return time.Duration(*d) }

// brief shows a duration as people write it: 1m30s, 20m, 2h; 0.4s when it is short.
func brief(d time.Duration) string {
	switch {
	case d < 0:
		d = 0
	case d < 10*time.Second:
		d = d.Round(100 * time.Millisecond)
	case d < time.Hour:
		d = d.Round(time.Second)
	default:
		d = d.Round(time.Minute)
	}
	if d > 0 && d < time.Second {
		return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + "s"
	}
	if d >= 48*time.Hour {
		return strconv.Itoa(int(d/(24*time.Hour))) + "d" + strings.TrimSuffix(brief(d%(24*time.Hour)), "0s")
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
