package httpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"legible.sh/mutex/api"
	"legible.sh/mutex/internal/lease"
	"legible.sh/mutex/internal/policy"
	"legible.sh/mutex/topicactor"
)

// streamPatience is how long one write to a watcher may take. Who reads slower than that is gone or stuck.
const streamPatience = 10 * time.Second

// WatchTopic streams every change of a topic.
func (s *Server) WatchTopic(w http.ResponseWriter, r *http.Request, topic api.Topic, p api.WatchTopicParams) {
	name, _, err := s.enter(r, topic, policy.Read)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	after := ""
	if p.LastEventID != nil {
		after = *p.LastEventID
	}
	s.stream(w, r, name, after)
}

func (s *Server) stream(w http.ResponseWriter, r *http.Request, topic lease.Topic, after string) {
	if r.Method == http.MethodHead {
		streamHeaders(w)
		return
	}
	watch, unwatch, err := s.options.Registry.Watch(r.Context(), topic, after)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	defer unwatch()
	if m := s.options.Meter; m != nil {
		m.Watchers(+1)
		defer m.Watchers(-1)
	}
	streamHeaders(w)
	out := &eventWriter{w: w, conn: http.NewResponseController(w)}
	// A comment goes out at once, so that the client knows the stream stands even when there is nothing to tell.
	if out.write([]byte(": mutex\n\n")) != nil {
		return
	}
	for _, f := range watch.First() {
		if out.write(f.Text(renderFrame)) != nil {
			return
		}
	}
	if out.flush() == nil {
		s.follow(r, topic, watch, out)
	}
}

func streamHeaders(w http.ResponseWriter) {
	h := w.Header()
	h["Content-Type"] = []string{typeStream}
	h["Cache-Control"] = noStore
	h["X-Accel-Buffering"] = []string{"no"}
	w.WriteHeader(http.StatusOK)
}

// follow writes what happens until the client, the topic or the server ends.
func (s *Server) follow(r *http.Request, topic lease.Topic, watch *topicactor.Watch, out *eventWriter) {
	heartbeat := time.NewTicker(s.options.Heartbeat)
	defer heartbeat.Stop()
	for {
		var err error
		select {
		case f, ok := <-watch.Frames():
			if !ok {
				_ = out.end(topic, watch.Err())
				return
			}
			err = out.frames(f, watch.Frames())
		case <-heartbeat.C:
			// The policy may have been read again meanwhile. Who comes back is told that it has.
			if _, err = s.options.Policy.Decide(topic, policy.Read, bearer(r)); err == nil {
				err = out.comment()
			}
		case <-r.Context().Done():
			if stopping(r.Context()) {
				_ = out.end(topic, ErrShutdown)
			}
			return
		}
		if err != nil {
			return
		}
	}
}

// eventWriter writes server-sent events. Each write has a deadline of its own: the server has none for streams.
type eventWriter struct {
	w    http.ResponseWriter
	conn *http.ResponseController
}

func (e *eventWriter) write(b []byte) error {
	_ = e.conn.SetWriteDeadline(time.Now().Add(streamPatience)) // unsupported only in tests without a connection
	_, err := e.w.Write(b)
	return err
}

func (e *eventWriter) flush() error { return e.conn.Flush() }

// frames writes one frame and those that are there already, in one flush.
func (e *eventWriter) frames(f *topicactor.Frame, more <-chan *topicactor.Frame) error {
	for {
		if err := e.write(f.Text(renderFrame)); err != nil {
			return err
		}
		if len(more) == 0 {
			return e.flush()
		}
		next, ok := <-more
		if !ok {
			return e.flush() // the caller sees the end itself
		}
		f = next
	}
}

func (e *eventWriter) comment() error {
	if err := e.write([]byte(": \n\n")); err != nil {
		return err
	}
	return e.flush()
}

// end tells a watcher why there will be no more.
func (e *eventWriter) end(topic lease.Topic, why error) error {
	last := api.StreamEnd{Topic: string(topic), Code: api.StreamEndCodeShutdown, Hint: "The server is stopping. Connect again with Last-Event-ID in a moment."}
	if errors.Is(why, topicactor.ErrLagged) {
		last.Code, last.Hint = api.StreamEndCodeLagged, "You fell behind and events were dropped. Connect again with Last-Event-ID."
	}
	if err := e.write(appendEvent(nil, "", "end", last)); err != nil {
		return err
	}
	return e.flush()
}

// eventNames are what the kinds are called on the wire.
var eventNames = map[lease.Kind]string{
	lease.Granted: "grant", lease.Renewed: "renew", lease.Released: "release", lease.Expired: "expire",
	lease.Forced: "force-release", lease.Enqueued: "wait", lease.Left: "leave",
}

func renderFrame(f *topicactor.Frame) []byte {
	if f.Status != nil {
		return appendEvent(nil, f.ID, "status", apiStatus(f.Topic, f.Status))
	}
	e := api.TopicEvent{
		Topic: string(f.Topic), Name: f.Name, Capacity: f.Capacity, Holders: f.Holders, Waiting: f.Waiting,
	}
	if f.Fence != 0 {
		fence := int64(f.Fence)
		e.Fence = &fence
	}
	return appendEvent(nil, f.ID, eventNames[f.Kind], e)
}

// appendEvent appends one event. Its data is JSON on one line, so nothing in it can end a line early.
func appendEvent(b []byte, id, name string, data any) []byte {
	if id != "" {
		b = append(append(append(b, "id: "...), id...), '\n')
	}
	b = append(append(append(b, "event: "...), name...), '\n')
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(data) // plain structs always encode
	b = append(append(b, "data: "...), bytes.TrimSpace(text.Bytes())...)
	return append(b, "\n\n"...)
}
