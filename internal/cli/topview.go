package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"legible.sh/mutex/internal/locker"
)

// frame is what a person sees of a snapshot: at most height lines, or as many as it takes if that is 0.
func (s snapshot) frame(width, height int, now time.Time) []string {
	lines := []string{fit(s.headline(now), width), ""}
	share := 10
	if height > 0 {
		share = max((height-len(lines)-6)/2, 1)
	}
	lines = append(lines, s.contended(width, share, now)...)
	lines = append(lines, "")
	lines = append(lines, s.longest(width, share, now)...)
	if height > 0 && len(lines) > height {
		lines = lines[:height]
	}
	return lines
}

func (s snapshot) headline(now time.Time) string {
	held, waiting := 0, 0
	for _, one := range s.all {
		if one.State == locker.Held {
			held++
		}
		waiting += one.Waiting
	}
	text := fmt.Sprintf("%s  %s  %d held, %d waiting, %d in all; q quits", now.Format(time.TimeOnly), s.where, held, waiting, len(s.all))
	if s.err != nil {
		text = fmt.Sprintf("%s  %s", now.Format(time.TimeOnly), clean(s.err.Error()))
	}
	return text
}

// contended shows the longest queues.
func (s snapshot) contended(width, most int, now time.Time) []string {
	var rows [][]string
	for _, one := range s.all {
		if one.Waiting == 0 || len(rows) == most {
			break // they are sorted by it
		}
		longest, next := time.Time{}, "-"
		for _, w := range one.Waiters {
			if longest.IsZero() || w.Since.Before(longest) {
				longest = w.Since
			}
		}
		if len(one.Waiters) > 0 {
			next = clean(one.Waiters[0].Name)
		}
		rows = append(rows, []string{clean(one.Key), integer(one.Waiting), ago(now, longest), next, holderNames(one)})
	}
	return section("Contended", []string{"NAME", "WAITING", "LONGEST", "NEXT", "HELD BY"}, rows, width)
}

func holderNames(s locker.Status) string {
	names := make([]string, len(s.Holders))
	for i, h := range s.Holders {
		names[i] = clean(h.Name)
	}
	return orDash(list(names))
}

// longest shows who has held for longest.
func (s snapshot) longest(width, most int, now time.Time) []string {
	type hold struct {
		key string
		locker.Holder
	}
	var holds []hold
	for _, one := range s.all {
		for _, h := range one.Holders {
			holds = append(holds, hold{one.Key, h})
		}
	}
	slices.SortStableFunc(holds, func(a, b hold) int { return cmp.Compare(a.Since.UnixNano(), b.Since.UnixNano()) })
	var rows [][]string
	for _, h := range holds[:min(most, len(holds))] {
		renewed := "never"
		if !h.Renewed.IsZero() {
			renewed = ago(now, h.Renewed) + " ago"
		}
		rows = append(rows, []string{
			clean(h.key), clean(h.Name), ago(now, h.Since), renewed, in(now, h.Expires), orDash(clean(h.Host)), clean(h.Reason),
		})
	}
	return section("Longest holds", []string{"NAME", "HOLDER", "HELD-FOR", "RENEWED", "EXPIRES", "HOST", "REASON"}, rows, width)
}

func section(title string, head []string, rows [][]string, width int) []string {
	if len(rows) == 0 {
		return []string{title + ": none"}
	}
	var b strings.Builder
	_ = table(&b, width, head, rows) // a Builder takes everything
	return append([]string{title}, strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")...)
}
