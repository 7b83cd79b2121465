package supervise

import (
	"fmt"
	"io"
	"time"
)

// words are the lines that a person reads on stderr.
type words struct {
	name  string // of the program, in front of each line
	quiet bool
	out   *outbox
}

func newWords(name string, w io.Writer, quiet bool) *words {
	return &words{name: name, quiet: quiet, out: newOutbox(w)}
}

// note says what --quiet leaves out: the lease is well, or may yet be.
func (w *words) note(format string, args ...any) {
	if !w.quiet {
		w.warn(format, args...)
	}
}

// warn says what must be known even with --quiet.
func (w *words) warn(format string, args ...any) {
	w.out.put(fmt.Appendf(nil, w.name+": "+format+"\n", args...))
}

// flush waits for what is still to be written, for limit at most.
func (w *words) flush(limit time.Duration) { w.out.flush(limit) }

// close waits a moment for what is still to be written.
func (w *words) close() { w.out.close(time.Second) }

// seconds shows a duration as people read it: 41s, or 0.4s when it is short.
func seconds(d time.Duration) string {
	if d < 0 {
		d = 0
	}
	if d < 10*time.Second {
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}
