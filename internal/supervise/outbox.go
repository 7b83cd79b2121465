package supervise

import (
	"io"
	"sync/atomic"
	"time"
)

// outbox writes lines in the background, so that a terminal that was stopped, or a pipe that nobody reads, never
// holds up the watch over the lease. Its goroutine owns the writer and ends with close.
type outbox struct {
	lines   chan outboxLine
	quit    chan struct{}
	done    chan struct{}
	dropped atomic.Int64
	err     error // of the first write that failed; read after done
}

// outboxLine is text to write, or a mark to close when everything before it was written.
type outboxLine struct {
	text []byte
	mark chan struct{}
}

const outboxSize = 256

func newOutbox(w io.Writer) *outbox {
	o := &outbox{lines: make(chan outboxLine, outboxSize), quit: make(chan struct{}), done: make(chan struct{})}
	go o.run(w)
	return o
}

// put queues a line and never waits; a line that finds no room is dropped and counted.
func (o *outbox) put(text []byte) {
	select {
	case o.lines <- outboxLine{text: text}:
	default:
		o.dropped.Add(1)
	}
}

// flush waits until what was put before is written, or for limit.
func (o *outbox) flush(limit time.Duration) {
	mark := make(chan struct{})
	select {
	case o.lines <- outboxLine{mark: mark}:
	default:
		return
	}
	select {
	case <-mark:
	case <-time.After(limit):
	}
}

func (o *outbox) run(w io.Writer) {
	defer close(o.done)
	for {
		select {
		case line := <-o.lines:
			o.write(w, line)
		case <-o.quit:
			o.drain(w)
			return
		}
	}
}

func (o *outbox) drain(w io.Writer) {
	for {
		select {
		case line := <-o.lines:
			o.write(w, line)
		default:
			return
		}
	}
}

func (o *outbox) write(w io.Writer, line outboxLine) {
	if line.mark != nil {
		close(line.mark)
		return
	}
	if _, err := w.Write(line.text); err != nil && o.err == nil {
		o.err = err
	}
}

// close writes what is queued, for as long as limit, and reports whether all of it went out. It is called once.
func (o *outbox) close(limit time.Duration) bool {
	close(o.quit)
	select {
	case <-o.done:
		return o.err == nil && o.dropped.Load() == 0
	case <-time.After(limit):
		return false
	}
}
