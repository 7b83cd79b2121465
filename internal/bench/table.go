package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
)

// print writes a report as a table, or as one line of JSON.
func (r *Report) print(w io.Writer, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(r)
	}
	title := r.Scenario
	if r.Connections > 0 {
		title += fmt.Sprintf(", %d connections", r.Connections)
	}
	title += fmt.Sprintf(", median of %d × %gs", len(r.Figures[0].Rounds), r.Seconds)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range r.rows() {
		if _, err := fmt.Fprintln(t, strings.Join(row, "\t")+"\t"); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprintln(w, title); err != nil {
		return err
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w)
	return err
}

func (r *Report) rows() [][]string {
	withFloor := false
	for _, f := range r.Figures {
		withFloor = withFloor || f.Floor != nil
	}
	var rows [][]string
	if withFloor {
		rows = append(rows, []string{"", "server", "floor", "ratio", ""})
	}
	for _, f := range r.Figures {
		row := []string{f.Name, decimal(f.Value)}
		if withFloor {
			row = append(row, optional(f.Floor), optional(f.Ratio))
		}
		rows = append(rows, append(row, f.Unit))
	}
	return rows
}

func optional(v *float64) string {
	if v == nil {
		return ""
	}
	return decimal(*v)
}

// decimal shows about three digits.
func decimal(v float64) string {
	switch {
	case v >= 100 || v == float64(int64(v)):
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}
