package httpserver

import (
	"net/http"
	"strconv"

	"legible.sh/mutex/api"
	"legible.sh/mutex/internal/lease"
	"legible.sh/mutex/internal/policy"
	"legible.sh/mutex/topicactor"
)

// GetTopic shows a topic: as JSON, as a page to a browser, as a stream where one is asked for.
func (s *Server) GetTopic(w http.ResponseWriter, r *http.Request, topic api.Topic) {
	name, _, err := s.enter(r, topic, policy.Read)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	varies(w.Header())
	switch preferred(r.Header["Accept"], typeJSON, typeHTML, typeStream) {
	case typeStream:
		s.stream(w, r, name, r.Header.Get("Last-Event-ID"))
		return
	case typeHTML:
		s.topicPage(w, r, name)
		return
	}
	answer, err := s.look(r, name)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	timing(w, answer.Queued, answer.Stored)
	s.sendStatus(w, name, &answer.Status)
}

func (s *Server) look(r *http.Request, topic lease.Topic) (*topicactor.Answer, error) {
	return s.options.Registry.Do(r.Context(), topic, &lease.Command{Op: lease.Look})
}

// sendStatus writes the commonest statuses by hand, and the rest through the encoder.
func (s *Server) sendStatus(w http.ResponseWriter, topic lease.Topic, st *lease.Status) {
	if len(st.Waiters) > 0 {
		s.write(w, http.StatusOK, apiStatus(topic, st))
		return
	}
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	*buf = appendStatus((*buf)[:0], topic, st)
	_ = send(w, http.StatusOK, *buf)
}

// appendStatus appends a status without waiters.
func appendStatus(b []byte, topic lease.Topic, st *lease.Status) []byte {
	o := newObject(b)
	o.string("topic", string(topic))
	o.string("state", string(topicState(st)))
	o.capacity(st)
	o.holders(st.Holders)
	o.int("waiting", 0)
	o.key("waiters")
	o.b = append(o.b, "[]"...)
	return o.end()
}

func (o *object) capacity(st *lease.Status) {
	o.key("capacity")
	if st.Capacity == 0 {
		o.b = append(o.b, "null"...)
		return
	}
	o.b = strconv.AppendInt(o.b, int64(st.Capacity), 10)
}

func (o *object) holders(all []lease.Holder) {
	o.key("holders")
	if len(all) == 0 {
		o.b = append(o.b, "[]"...)
		return
	}
	o.b = append(o.b, '[')
	for i := range all {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.line("    {")
		o.b = appendHolder(o.b, &all[i], o.indent+"    ")
		o.line("    }")
	}
	o.line("  ]")
}

func appendHolder(b []byte, h *lease.Holder, indent string) []byte {
	o := object{b: b, first: true, indent: indent}
	o.string("name", h.Who.Name)
	o.time("since", h.Since)
	o.time("expires", h.Expires)
	if !h.Renewed.IsZero() {
		o.time("renewed", h.Renewed)
	}
	o.int("fence", int64(h.Fence))
	if h.Who.Reason != "" {
		o.string("reason", h.Who.Reason)
	}
	if h.Who.Host != "" {
		o.string("host", h.Who.Host)
	}
	if h.Who.PID != 0 {
		o.int("pid", int64(h.Who.PID))
	}
	return o.b
}
