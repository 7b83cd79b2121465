package cli

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

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
	if p.Trouble != nil {
		w.say(phrase(p.Trouble)+"; trying again", patience(p))
		return
	}
	if w.d.ErrTTY {
		w.draw(w.oneLine(p))
		return
	}
	who := "waiting for " + w.key
	if len(p.Holders) > 0 {
		who += ", held by " + list(p.Holders)
	}
	w.say(who+line(p), left(p))
}

// patience says for how much longer a service is tried that does not answer.
func patience(p locker.Progress) string {
	if p.Patience <= 0 {
		return ""
	}
	return " for " + brief(p.Patience)
}

// say writes a line unless it says what the last one did, but for its figures.
func (w *waiting) say(text, figures string) {
	if text != w.last {
		w.wipe()
		w.d.words("%s%s", text, figures)
		w.last = text
	}
}

// oneLine says how the wait goes in what a terminal has room for. First the time spent gives way, on a narrow one the
// time left too; then the names are shortened, a long one for the sake of the other.
func (w *waiting) oneLine(p locker.Progress) string {
	head, held, key, holders := "waiting for ", "", clean(w.key), clean(list(p.Holders))
	if at := line(p); at != "" {
		head = strings.TrimPrefix(at, ", ") + " for "
	}
	if holders != "" {
		held = ", held by "
	}
	head, end := w.d.Program+": "+head, left(p)
	sofar := ", " + brief(time.Since(w.start)) + " so far"
	room := w.columns() - utf8.RuneCountInString(head+held+end)
	long, other := utf8.RuneCountInString(key), utf8.RuneCountInString(holders)
	switch {
	case long+other+len(sofar) <= room:
		end += sofar
	case long+other > room && room < 20:
		room, end = room+len(end), ""
	}
	return head + fit(key, max(room-other, room/2)) + held + fit(holders, max(room-long, room-room/2)) + end
}

// columns is how long a line may be: one that fills the last column may wrap.
func (w *waiting) columns() int {
	if w.d.ErrWidth <= 0 {
		return 79
	}
	return w.d.ErrWidth - 1
}

// draw writes over the line on the terminal.
func (w *waiting) draw(text string) {
	fmt.Fprintf(w.d.Err, "\r\x1b[K%s", fit(text, w.columns()))
	w.drawn = true
}

// left says when the earliest lease ends unless it is renewed.
func left(p locker.Progress) string {
	if p.RetryAfter <= 0 {
		return ""
	}
	return " (" + brief(p.RetryAfter) + " left)"
}

// line says where in line this command is.
func line(p locker.Progress) string {
	switch {
	case p.Position == 1:
		return ", next in line"
	case p.Position > 1:
		return fmt.Sprintf(", number %d in line", p.Position)
	}
	return ""
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
