package web

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"time"

	"legible.sh/mutex/api"
)

// space keeps a number and its unit on one line.
const space = "\u00a0"

// span says how long something took, in the two largest units that matter. live.js has the same rules.
func span(d time.Duration) string {
	switch {
	case d <= 0:
		return "0" + space + "s"
	case d < time.Second:
		return strconv.FormatInt(max(d.Milliseconds(), 1), 10) + space + "ms"
	case d < 10*time.Second && d%time.Second >= 100*time.Millisecond:
		return strconv.FormatFloat(d.Truncate(100*time.Millisecond).Seconds(), 'f', 1, 64) + space + "s"
	case d < time.Minute:
		return units(d, time.Second, "s", 0, "")
	case d < time.Hour:
		return units(d, time.Minute, "min", time.Second, "s")
	case d < 24*time.Hour:
		return units(d, time.Hour, "h", time.Minute, "min")
	}
	return units(d, 24*time.Hour, "d", time.Hour, "h")
}

func units(d, large time.Duration, name string, small time.Duration, smallName string) string {
	s := fmt.Sprintf("%d"+space+"%s", d/large, name)
	if small == 0 || d%large < small {
		return s
	}
	return fmt.Sprintf("%s"+space+"%d"+space+"%s", s, d%large/small, smallName)
}

// seconds is a duration of the wire, for people.
func seconds(s *float64) string {
	if s == nil {
		return ""
	}
	return span(wireSeconds(*s))
}

func wireSeconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// since is the time from then to now, as an element that live.js keeps current.
func since(now time.Time, then api.Time) template.HTML {
	return tick("since", then, now.Sub(then.Time))
}

// until is the time from now to then, likewise.
func until(now time.Time, then api.Time) template.HTML { return tick("until", then, then.Sub(now)) }

// tick holds nothing but numbers and words of ours.
func tick(way string, at api.Time, d time.Duration) template.HTML {
	return template.HTML(`<time class="tick" data-tick="` + way + `" datetime="` + rfc3339(at) + `">` +
		span(d.Truncate(time.Second)) + `</time>`)
}

func clock(t api.Time) string   { return t.UTC().Format(time.TimeOnly) }
func day(t api.Time) string     { return t.UTC().Format(time.DateOnly) }
func rfc3339(t api.Time) string { return rfc3339At(t.Time) }

func clockAt(t time.Time) string   { return t.UTC().Format(time.TimeOnly) }
func rfc3339At(t time.Time) string { return string(api.AppendTime(nil, t)) }

// grouped writes a number with its thousands apart: 10 000 is hard to read as 10000.
func grouped(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// list names up to three, and counts the rest.
func list(names []string) string {
	const most = 3
	switch n := len(names); {
	case n == 0:
		return "nobody"
	case n == 1:
		return names[0]
	case n > most:
		return strings.Join(names[:most], ", ") + " and " + strconv.Itoa(n-most) + " more"
	default:
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
}

// place says where something runs, as far as is known.
func place(host string, pid *int) string {
	switch {
	case pid == nil:
		return host
	case host == "":
		return "pid " + strconv.Itoa(*pid)
	}
	return host + ", pid " + strconv.Itoa(*pid)
}
