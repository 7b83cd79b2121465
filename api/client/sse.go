package client

import (
	"bufio"
	"bytes"
	"io"
)

// maxEvent bounds one line of a stream: the state of a topic with 1,024 holders and 1,024 waiters.
const maxEvent = 4 << 20

// rawEvent is one server-sent event.
type rawEvent struct {
	id, event string
	data      []byte
}

// eventReader takes a stream of server-sent events apart. It calls alive for every line, heartbeats included.
type eventReader struct {
	lines *bufio.Scanner
	alive func()
}

func newEventReader(r io.Reader, alive func()) *eventReader {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 4096), maxEvent)
	return &eventReader{lines: lines, alive: alive}
}

// next gives the next event that has data.
func (r *eventReader) next() (rawEvent, error) {
	var e rawEvent
	for r.lines.Scan() {
		r.alive()
		line := r.lines.Bytes()
		if len(line) == 0 {
			if e.data != nil {
				return e, nil
			}
			e = rawEvent{}
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "id":
			e.id = string(value)
		case "event":
			e.event = string(value)
		case "data":
			if e.data != nil {
				e.data = append(e.data, '\n')
			}
			e.data = append(e.data, value...)
		}
	}
	if err := r.lines.Err(); err != nil {
		return rawEvent{}, err
	}
	return rawEvent{}, io.EOF
}
