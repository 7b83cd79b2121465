package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"legible.sh/mutex/internal/locker"
)

// historyLimit is how many events history shows unless told otherwise.
const historyLimit = 50

func (d *door) history() *cobra.Command {
	var q locker.HistoryQuery
	var since string
	cmd := d.verb(d.use("history", "["+upper(d.Noun)+"]"), "Show what happened, newest first", 0, 1, func(ctx context.Context, c call) error {
		if len(c.keys) == 1 {
			q.Key = c.keys[0]
		}
		var err error
		if q.Since, err = parseSince(since, time.Now()); err != nil {
			return err
		}
		if q.Limit < 0 {
			return usagef("--limit must be 1 or more, or 0 for no limit")
		}
		events, err := c.service.History(ctx, q)
		if err != nil {
			return err
		}
		if d.wantsJSON() {
			return d.printJSON(d.Shapes.History(events))
		}
		return d.historyTable(events)
	})
	flags := cmd.Flags()
	flags.StringVar(&since, "since", "", "only events of the last `duration`, such as 24h or 7d, or since a time, such as 2026-03-01T12:00:00Z")
	flags.IntVar(&q.Limit, "limit", historyLimit, "at most so many events; 0 is all")
	flags.BoolVar(&q.Renewed, "all", false, "renewals too")
	d.jsonFlag(cmd)
	d.document(cmd, historyManual)
	return cmd
}

// parseSince reads a duration that reaches back from now, or a time.
func parseSince(s string, now time.Time) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if d, err := ParseDuration(s); err == nil {
		return now.Add(-d), nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.ParseInLocation(layout, s, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, usagef("--since %s: give a duration such as 24h or 7d, or a time such as 2026-03-01T12:00:00Z", s)
}

func (d *door) historyTable(events []locker.Event) error {
	head := []string{"TIME", "EVENT", upper(d.Noun), "HOLDER", "FENCE", "DETAIL"}
	rows := make([][]string, 0, len(events))
	for _, e := range events {
		rows = append(rows, []string{
			e.Time.Local().Format(time.DateTime), clean(string(e.Kind)), clean(e.Key), clean(e.Name), integer(e.Fence), clean(detail(e)),
		})
	}
	return table(d.Out, d.Width, head, rows)
}

// detail says what matters about an event of its kind.
func detail(e locker.Event) string {
	text := e.Reason
	add := func(s string) {
		if text != "" {
			s += "; "
		}
		text = s + text
	}
	switch {
	case e.By != "":
		add("by " + e.By)
	case e.Held > 0:
		add("held for " + brief(e.Held))
	case e.Waited > 0:
		add(fmt.Sprintf("for %s, after %s in line", brief(e.TTL), brief(e.Waited)))
	case e.TTL > 0:
		add("for " + brief(e.TTL))
	}
	return text
}
