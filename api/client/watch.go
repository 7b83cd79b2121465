package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"time"

	"legible.sh/mutex/api"
)

// EventType is what an [Event] tells.
type EventType string

// The types of events. A server may come to send others.
const (
	EventStatus       EventType = "status"        // the whole state: first of all, and where nothing could be resumed
	EventGrant        EventType = "grant"         // a lease was granted
	EventRenew        EventType = "renew"         // a lease was renewed
	EventRelease      EventType = "release"       // a lease was given back
	EventExpire       EventType = "expire"        // a lease ended by its ttl
	EventForceRelease EventType = "force-release" // an administrator ended a lease
	EventWait         EventType = "wait"          // somebody joined the queue
	EventLeave        EventType = "leave"         // somebody left the queue without a grant
)

// Event is one thing that [Client.Watch] saw. Either Status or Change is set.
type Event struct {
	ID     string
	Type   EventType
	Status *api.TopicStatus // with EventStatus
	Change *api.TopicEvent  // with every other
}

// silence is how long a stream may say nothing, not even its heartbeat, before it counts as dead.
const silence = 60 * time.Second

// Watch streams every change of a topic, beginning with its state. It claims nothing, and ends with the loop over
// it or with ctx.
//
// A stream that breaks is taken up again where it ended, by itself. An error that is [ErrUnreachable] says that
// this did not work just now: going on with the loop tries again, after a pause that grows to 2 s. Any other error
// is the last.
func (c *Client) Watch(ctx context.Context, topic string) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if err := checkTopic(topic); err != nil {
			yield(Event{}, err)
			return
		}
		w := &watcher{c: c, topic: topic, yield: yield}
		for ctx.Err() == nil && w.stream(ctx) {
			if sleep(ctx, w.pause.next()) != nil {
				return
			}
		}
	}
}

// watcher is one loop over a topic's events, across its connections.
type watcher struct {
	c     *Client
	topic string
	yield func(Event, error) bool
	last  string // id of the last event
	pause backoff
}

// stream follows one connection to its end. It tells whether to make another.
func (w *watcher) stream(ctx context.Context) bool {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	alarm := time.AfterFunc(silence, func() { cancel(errSlow) })
	defer alarm.Stop()
	body, err := w.open(ctx)
	if err != nil {
		return w.failed(ctx, err)
	}
	defer body.Close()
	r := newEventReader(body, func() { alarm.Reset(silence) })
	for {
		raw, err := r.next()
		if err != nil {
			return ctx.Err() == nil || context.Cause(ctx) == errSlow
		}
		w.pause.reset()
		if raw.id != "" {
			w.last = raw.id
		}
		e, err := parseEvent(raw)
		switch {
		case errors.Is(err, errEnd):
			return true
		case err != nil:
			return w.yield(Event{}, &UnreachableError{URL: w.c.where, Status: http.StatusOK, Err: err})
		case !w.yield(e, nil):
			return false
		}
	}
}

// failed hands on why there is no stream, and tells whether to try again.
func (w *watcher) failed(ctx context.Context, err error) bool {
	switch {
	case ctx.Err() != nil && context.Cause(ctx) != errSlow:
		return false
	case transient(err):
		var refused *Error
		if errors.As(err, &refused) { // one who stops or starts refuses, and is there a moment later
			err = &UnreachableError{URL: w.c.where, Err: refused}
		}
		return w.yield(Event{}, err)
	}
	w.yield(Event{}, err)
	return false
}

func (w *watcher) open(ctx context.Context) (io.ReadCloser, error) {
	params := &api.WatchTopicParams{LastEventID: optional(w.last)}
	stream := func(_ context.Context, r *http.Request) error {
		r.Header.Set("Accept", "text/event-stream")
		return nil
	}
	r, err := w.c.fresh.WatchTopic(ctx, w.topic, params, w.c.edit(user), stream)
	if err != nil {
		return nil, w.c.unreachable(ctx, err)
	}
	if r.StatusCode == http.StatusOK {
		return r.Body, nil
	}
	defer r.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(r.Body, maxAnswer))
	_, err = decode[struct{}](r, body)
	var refused *Error
	if errors.As(err, &refused) {
		return nil, refused
	}
	return nil, &UnreachableError{URL: w.c.where, Status: r.StatusCode, Err: err}
}

// errEnd is the server's farewell: it stops, or this reader was too slow. Both are reasons to connect again.
var errEnd = errors.New("the stream has ended")

func parseEvent(raw rawEvent) (e Event, err error) {
	e = Event{ID: raw.id, Type: EventType(raw.event)}
	switch e.Type {
	case "end":
		return e, errEnd
	case EventStatus:
		e.Status = new(api.TopicStatus)
		err = json.Unmarshal(raw.data, e.Status)
	default:
		e.Change = new(api.TopicEvent)
		err = json.Unmarshal(raw.data, e.Change)
	}
	if err != nil {
		return e, fmt.Errorf("the event %.40q is not in the words of a mutex server: %w", raw.event, err)
	}
	return e, nil
}
