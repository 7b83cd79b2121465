package httpserver

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"legible.sh/mutex/api"
	"legible.sh/mutex/internal/lease"
)

// failAcquire is fail with the refusals of the hot path first: BUSY and TIMEOUT, by others who hold the topic. longest is
// how long its clients may wait for it.
func (s *Server) failAcquire(w http.ResponseWriter, r *http.Request, err error, longest time.Duration) {
	if e := (*lease.HeldError)(nil); errors.As(err, &e) {
		v, _ := judge(err)
		s.sendHeld(w, r, v, e, min(longest, usualWait))
		return
	}
	s.fail(w, r, err)
}

func (s *Server) sendHeld(w http.ResponseWriter, r *http.Request, v verdict, e *lease.HeldError, longest time.Duration) {
	topic := r.PathValue("topic")
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	o := newObject((*buf)[:0])
	o.string("error", v.err.Error())
	o.string("code", string(v.code))
	o.string("hint", heldHint(v, longest))
	o.next(&api.NextRequest{Method: http.MethodPost, Path: "/" + topic + waitQuery(r, longest)})
	o.string("topic", topic)
	if len(e.Holders) > 0 {
		o.strings("holders", e.Holders)
	}
	o.int("waiting", int64(e.Waiting))
	if len(e.Holders) > 0 {
		o.seconds("retry_after", ceilMillis(e.RetryAfter))
	}
	if e.Position > 0 {
		o.int("position", int64(e.Position))
	}
	*buf = o.end()
	_ = send(w, v.status, *buf)
}

// usualWait is the wait that the hint of BUSY names, where the topic's limit allows it.
const usualWait = 300 * time.Second

// heldHint is the hint of a row, which names the wait that next has.
func heldHint(v verdict, longest time.Duration) string {
	switch {
	case v.code != api.ErrorCodeBusy || longest == usualWait:
		return v.hint
	case longest <= 0:
		return strings.Replace(v.hint, "with wait=300 to queue, or ", "", 1)
	}
	return strings.Replace(v.hint, "wait=300", "wait="+inSeconds(longest), 1)
}

// waitQuery is the request's own query, with a wait if it may have one.
func waitQuery(r *http.Request, longest time.Duration) string {
	if wait, err := strconv.ParseFloat(r.URL.Query().Get("wait"), 64); longest <= 0 || err == nil && wait > 0 {
		return strings.TrimSuffix("?"+r.URL.RawQuery, "?")
	}
	return query(r, "wait", inSeconds(longest))
}

func inSeconds(d time.Duration) string { return string(appendFloat(nil, d.Seconds())) }
