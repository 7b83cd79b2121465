package supervise

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// Kind names an event in the life of a run.
type Kind string

// The events, in the order in which a run meets them. All but Waiting and Acquired come from Run.
const (
	Waiting   Kind = "waiting"   // in the queue
	Acquired  Kind = "acquired"  // the lease is held
	Renewed   Kind = "renewed"   // confirmed
	Reclaimed Kind = "reclaimed" // cleared by somebody, and taken back under a higher fence
	Uncertain Kind = "uncertain" // a renewal was not confirmed; the deadline stands
	Lost      Kind = "lost"      // refused, or not confirmed in time
	Exited    Kind = "exited"    // the command ended
	Released  Kind = "released"  // given back
)

// Event is one line of an events file. What is zero is left out, but for At, Kind and, where there is a lease, Left.
type Event struct {
	At       time.Time     // when it happened; [Events.Emit] fills it in
	Kind     Kind          //
	Topic    string        //
	Fence    int64         //
	TTL      time.Duration //
	Left     time.Duration // until the lease ends by itself, if nothing more is confirmed; while waiting, the holders'
	Position int           // in the queue, from 1
	Holders  []string      // who holds the topic, while waiting
	Code     *int          // the command's exit code
	Error    string        // why a renewal or a release failed
}

type eventLine struct {
	At       string   `json:"at"`
	Kind     Kind     `json:"event"`
	Topic    string   `json:"topic,omitempty"`
	Fence    int64    `json:"fence,omitempty"`
	TTL      float64  `json:"ttl,omitempty"`
	Left     *float64 `json:"left,omitempty"`
	Position int      `json:"position,omitempty"`
	Holders  []string `json:"holders,omitempty"`
	Code     *int     `json:"code,omitempty"`
	Error    string   `json:"error,omitempty"`
}

// MarshalJSON gives times in RFC 3339 with milliseconds and durations in seconds.
func (e Event) MarshalJSON() ([]byte, error) {
	line := eventLine{
		At: e.At.UTC().Format("2006-01-02T15:04:05.000Z07:00"), Kind: e.Kind, Topic: e.Topic, Fence: e.Fence,
		TTL: e.TTL.Seconds(), Position: e.Position, Holders: e.Holders, Code: e.Code, Error: e.Error,
	}
	if e.Left != 0 || e.Kind != Waiting {
		left := max(e.Left, 0).Truncate(time.Millisecond).Seconds()
		line.Left = &left
	}
	return json.Marshal(line)
}

// Events writes one JSON line an event, for programs that watch a run. Writing happens in the background: a
// reader that stopped reading costs events, never the lease. A nil *Events takes events and drops them.
// It is safe for concurrent use.
type Events struct {
	out    *outbox
	closer io.Closer
}

// NewEvents writes to w, which is not closed.
func NewEvents(w io.Writer) *Events { return &Events{out: newOutbox(w)} }

// OpenEvents appends to a file, which is made, readable by its owner alone, if it is not there.
// A named pipe must have a reader already.
func OpenEvents(path string) (*Events, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|nonblocking, 0o600)
	if err != nil {
		return nil, fmt.Errorf("events file: %w", err)
	}
	events := NewEvents(file)
	events.closer = file
	return events, nil
}

// Emit queues one event, stamped with the present time if it has none.
func (e *Events) Emit(event Event) {
	if e == nil {
		return
	}
	if event.At.IsZero() {
		event.At = time.Now()
	}
	line, err := json.Marshal(event)
	if err != nil {
		return // an Event holds nothing that JSON refuses
	}
	e.out.put(append(line, '\n'))
}

// ErrEventsIncomplete says that not every event could be written.
var ErrEventsIncomplete = errors.New("not every event could be written")

// Close writes what is queued, for a second at most, and closes the file. It is called once, when nobody emits
// any more.
func (e *Events) Close() error {
	if e == nil {
		return nil
	}
	complete := e.out.close(time.Second)
	var err error
	if e.closer != nil {
		err = e.closer.Close()
	}
	if !complete {
		err = errors.Join(ErrEventsIncomplete, err)
	}
	return err
}
