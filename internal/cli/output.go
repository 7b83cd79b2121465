package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// printJSON writes v as the server does: two spaces of indent, a newline at the end.
func (d *door) printJSON(v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := d.Out.Write(cleanJSON(b.Bytes()))
	return err
}

// words writes a line for people, on stderr.
func (d *door) words(format string, args ...any) {
	fmt.Fprintf(d.Err, "%s: %s\n", d.Program, cleanLines(fmt.Sprintf(format, args...)))
}

// table writes rows under a head, in columns two spaces apart, cut to width columns: the widest give way, but never those that
// are firm.
func table(w io.Writer, width int, head []string, rows [][]string) error {
	if width <= 0 {
		width = 100
	}
	widths := make([]int, len(head))
	for _, row := range append([][]string{head}, rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	shrink(head, widths, width)
	var b strings.Builder
	for _, row := range append([][]string{head}, rows...) {
		line := ""
		for i, cell := range row {
			cell = fit(cell, widths[i])
			line += cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// firm are the heads of columns that say nothing when they are cut.
var firm = map[string]bool{"TIME": true, "EVENT": true}

// shrink takes from the widest column that is not firm, time and again, until all fit.
func shrink(head []string, widths []int, width int) {
	for {
		sum, widest := 2*(len(widths)-1), -1
		for i, w := range widths {
			sum += w
			if !firm[head[i]] && (widest < 0 || w >= widths[widest]) {
				widest = i
			}
		}
		if sum <= width || widest < 0 || widths[widest] <= 8 {
			return
		}
		widths[widest]--
	}
}

// ago shows how long something has lasted.
func ago(now, since time.Time) string {
	if since.IsZero() {
		return "-"
	}
	return brief(now.Sub(since))
}

// in shows how far off something is.
func in(now, at time.Time) string {
	switch {
	case at.IsZero():
		return "-"
	case !at.After(now):
		return brief(now.Sub(at)) + " ago"
	}
	return "in " + brief(at.Sub(now))
}
