package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"legible.sh/mutex/internal/locker"
)

func (d *door) list() *cobra.Command {
	var q locker.ListQuery
	var state string
	cmd := d.verb(d.use("list", ""), "List what is held, awaited or was lately used", 0, 0, func(ctx context.Context, c call) error {
		var err error
		if q.State, err = parseState(state); err != nil {
			return err
		}
		all, err := c.service.List(ctx, q)
		if err != nil {
			return err
		}
		if d.wantsJSON() {
			return d.printJSON(d.Shapes.List(all))
		}
		return d.listTable(all, time.Now())
	})
	cmd.Flags().StringVar(&q.Prefix, "prefix", "", "only names that begin with this")
	cmd.Flags().StringVar(&state, "state", "", "only those in this state: free, held, expired, corrupt or unreadable")
	d.jsonFlag(cmd)
	d.document(cmd, listManual)
	return cmd
}

func parseState(s string) (locker.State, error) {
	state := locker.State(s)
	if _, ok := stateCodes[state]; !ok && s != "" {
		return "", usagef("--state %s: there are free, held, expired, corrupt and unreadable", s)
	}
	return state, nil
}

func (d *door) listTable(all []locker.Status, now time.Time) error {
	head := []string{upper(d.Noun), "STATE", "HOLDER", "EXPIRES", "HELD-FOR", "WAITERS", "REASON"}
	rows := make([][]string, 0, len(all))
	for _, s := range all {
		rows = append(rows, listRow(s, now))
	}
	return table(d.Out, d.Width, head, rows)
}

func listRow(s locker.Status, now time.Time) []string {
	row := []string{clean(s.Key), clean(string(s.State)), "-", "-", "-", integer(s.Waiting), clean(s.Error)}
	if len(s.Holders) == 0 {
		return row
	}
	names := make([]string, len(s.Holders))
	first := s.Holders[0]
	for i, h := range s.Holders {
		names[i] = clean(h.Name)
		if h.Expires.Before(first.Expires) {
			first = h
		}
	}
	row[2], row[3], row[4] = strings.Join(names, ","), in(now, first.Expires), ago(now, s.Holders[0].Since)
	if s.Error == "" {
		row[6] = clean(first.Reason)
	}
	return row
}
