package cli

import (
	"fmt"
	"strings"
	"time"

	"legible.sh/mutex/internal/locker"
)

// waiting tells a person how a wait goes: on a terminal in one line that is written over, else in a line whenever
// something has changed. It is used by one goroutine at a time.
type waiting struct {
	d     *door
	key   string
	quiet bool
	start time.Time
	last  string // what was said, without the figures that always change
	drawn bool   // a line stands on the terminal
}

func (d *door) waiting(key string, quiet bool) *waiting {
	return &waiting{d: d, key: key, quiet: quiet, start: time.Now()}
}

// every says how often to look how the wait stands: a terminal is kept current, a log is not.
func (w *waiting) every() time.Duration {
	if w.d.ErrTTY && !w.quiet {
		return time.Second
	}
	return 30 * time.Second
}

func (w *waiting) tell(p locker.Progress) {
	if w.d.notify != nil {
		w.d.notify(w.key, p)
	}
	if w.quiet {
		return
	}
	text := w.trouble(p.Trouble)
	if p.Trouble == nil {
		text = w.text(p)
	}
	switch {
	case w.d.ErrTTY && p.Trouble == nil:
		text = fit(clean(fmt.Sprintf("%s: %s%s; %s so far", w.d.Program, text, w.until(p), brief(time.Since(w.start)))), max(w.d.Width, 80)-1)
		fmt.Fprintf(w.d.Err, "\r\x1b[K%s", text)
		w.drawn = true
	case text != w.last:
		w.wipe()
		w.d.words("%s%s", text, w.until(p))
		w.last = text
	}
}

func (w *waiting) text(p locker.Progress) string {
	text := "waiting for " + w.key
	if len(p.Holders) > 0 {
		text += ", held by " + list(p.Holders)
	}
	switch {
	case p.Position == 1:
		text += ", next in line"
	case p.Position > 1:
		text += fmt.Sprintf(", number %d in line", p.Position)
	}
	return text
}

func (w *waiting) until(p locker.Progress) string {
	if p.RetryAfter <= 0 {
		return ""
	}
	return ", for " + brief(p.RetryAfter) + " more unless renewed"
}

func (w *waiting) trouble(err error) string {
	if err == nil {
		return ""
	}
	return fmt.Sprintf("%v; trying again", err)
}

// end takes the line from the terminal.
func (w *waiting) end() { w.wipe() }

func (w *waiting) wipe() {
	if w.drawn {
		fmt.Fprint(w.d.Err, "\r\x1b[K")
		w.drawn = false
	}
}

// list names at most three, and how many more there are.
func list(names []string) string {
	if len(names) <= 3 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:3], ", "), len(names)-3)
}
