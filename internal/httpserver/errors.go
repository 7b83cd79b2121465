package httpserver

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"legible.sh/mutex/api"
	"legible.sh/mutex/internal/lease"
	"legible.sh/mutex/internal/policy"
	"legible.sh/mutex/registry"
	"legible.sh/mutex/topicactor"
)

// What is refused before it reaches a topic.
var (
	errPath        = errors.New("not a clean path")
	errNoRoute     = errors.New("no such path")
	errHost        = errors.New("this server does not answer to that name")
	errCrossOrigin = errors.New("a page of another origin may not change anything here")
	errBody        = errors.New("the body could not be read")
	errUnsupported = errors.New("this server runs without that part")
	errInternal    = errors.New("internal error")
	errNotAdmin    = errors.New("this needs the admin token")
)

// paramError is a request with bad parameters.
type paramError struct{ problems problems }

func (e *paramError) Error() string {
	parts := make([]string, len(e.problems))
	for i, p := range e.problems {
		parts[i] = p.Name + ": send " + p.Expected
	}
	return strings.Join(parts, "; ")
}

type sizeError struct{ limit int64 }

func (e *sizeError) Error() string { return fmt.Sprintf("the body passes %d bytes", e.limit) }

type methodError struct {
	method  string
	allowed []string
	meant   string // what who sent that most likely wants, or ""
}

func (e *methodError) Error() string { return e.method + " is not a method of this path" }

// verdict is one row of the error table.
type verdict struct {
	err    error
	status int
	code   api.ErrorCode
	hint   string
	retry  int // Retry-After in seconds, 0 for none
}

// verdicts is the one table from errors to answers. The first row that matches counts; what matches none is a bug,
// answered 500 without its text and logged.
var verdicts = []verdict{
	{lease.ErrBusy, 409, api.ErrorCodeBusy, "Repeat with wait=300 to queue, or after retry_after seconds. You hold nothing: do not start the work.", 0},
	{lease.ErrTimeout, 408, api.ErrorCodeTimeout, "You hold nothing: do not start the work. Repeat with the same Idempotency-Key, which keeps your place in the queue; without one you start at its end.", 0},
	{lease.ErrGone, 404, api.ErrorCodeNotFound, "Stop the work at once. To go on, acquire again and start over under the new fence.", 0},
	{lease.ErrConflict, 409, api.ErrorCodeConflict, "Repeat with the capacity in this answer, or leave capacity out.", 0},
	{lease.ErrSuperseded, 409, api.ErrorCodeSuperseded, "Nothing to do here: the newer request with this key gets the answer.", 0},
	{lease.ErrKeySpent, 409, api.ErrorCodeKeySpent, "You hold nothing: do not start the work. Make a new Idempotency-Key for new work.", 0},
	{lease.ErrKeyReused, 422, api.ErrorCodeKeyReused, "Repeat with the ttl and capacity that this key was first used with, or make a new key.", 0},
	{lease.ErrWaitersLimit, 429, api.ErrorCodeWaitersLimit, "You hold nothing: do not start the work. Repeat after Retry-After seconds.", 5},
	{lease.ErrSuspended, 503, api.ErrorCodeSuspended, "Nothing was granted. Repeat after Retry-After seconds; leases that live can still be renewed and released.", 5},
	{lease.ErrStorage, 503, api.ErrorCodeStorage, "Whether it was done is unknown. Repeat the same request with the same Idempotency-Key after Retry-After seconds.", 2},
	{ErrHistory, 503, api.ErrorCodeStorage, "Locks work all the same. Repeat after Retry-After seconds.", 5},
	{lease.ErrBadTopic, 400, api.ErrorCodeBadTopic, "Use 1 to 64 of a-z A-Z 0-9 _ : - for the topic, and not - alone.", 0},
	{errPath, 400, api.ErrorCodeBadTopic, "Send the path /{topic} with 1 to 64 of a-z A-Z 0-9 _ : - for the topic; no empty, . or .. segments.", 0},
	{registry.ErrTopicLimit, 429, api.ErrorCodeTopicLimit, "Every topic that may live is in use. Repeat after Retry-After seconds, or ask who runs the server to raise --max-topics.", 10},
	{errNotAdmin, 401, api.ErrorCodeUnauthorized, adminHint, 0},
	{policy.ErrUnauthorized, 401, api.ErrorCodeUnauthorized, "Send the header Authorization: Bearer <token> with a token that this server knows.", 0},
	{policy.ErrForbidden, 403, api.ErrorCodeForbidden, "This needs another token. Ask who runs the server.", 0},
	{policy.ErrNoAdmin, 403, api.ErrorCodeForbidden, "This server has no admin token. Whoever runs it can set MUTEX_ADMIN_TOKEN and start it again.", 0},
	{errNoRoute, 404, api.ErrorCodeNoRoute, "Read /llms.txt; /openapi.yaml has every path. A lock is POST /{topic}?ttl=60.", 0},
	{errHost, 421, api.ErrorCodeBadHost, "Call it by localhost or 127.0.0.1, or have the name added to --allowed-hosts.", 0},
	{errCrossOrigin, 403, api.ErrorCodeCrossOrigin, "Call from a program rather than a page, or have the origin added to --cors-origin.", 0},
	{errBody, 400, api.ErrorCodeBadParam, "Send the whole body at once, the holder's name as plain text, or none.", 0},
	{errUnsupported, 501, api.ErrorCodeUnsupported, "Do without, or ask who runs the server to switch it on.", 0},
	{topicactor.ErrStopped, 503, api.ErrorCodeShutdown, "Nothing was granted. Repeat with the same Idempotency-Key after Retry-After seconds.", 1},
	{ErrShutdown, 503, api.ErrorCodeShutdown, "Nothing was granted. Repeat with the same Idempotency-Key after Retry-After seconds.", 1},
	{errInternal, 500, api.ErrorCodeInternal, "Repeat once with the same Idempotency-Key. If it stays, report it with the X-Request-Id.", 0},
}

// adminHint says where the admin token is: whoever finds no other way to list or break leases reads it.
const adminHint = "Send the header Authorization: Bearer <token> with the admin token: what MUTEX_ADMIN_TOKEN was set to, or, for the " +
	"user of a server on loopback or a unix socket, what it left in $XDG_RUNTIME_DIR/mutex, $XDG_STATE_HOME/mutex or ~/.local/state/mutex. " +
	"The command mutex finds that one by itself."

// judge finds an error's row.
func judge(err error) (verdict, bool) {
	if e := (*paramError)(nil); errors.As(err, &e) {
		return verdict{err, 400, api.ErrorCodeBadParam, "Mend what parameters lists, and send the request again. Nothing was changed.", 0}, true
	}
	if e := (*sizeError)(nil); errors.As(err, &e) {
		return verdict{err, 413, api.ErrorCodeTooLarge, "Send the holder's name alone as the body, at most 128 characters, or no body.", 0}, true
	}
	if e := (*methodError)(nil); errors.As(err, &e) {
		return verdict{err, 405, api.ErrorCodeMethodNotAllowed, "Use one of: " + strings.Join(e.allowed, ", ") + "." + e.meant, 0}, true
	}
	for _, v := range verdicts {
		if errors.Is(err, v.err) {
			return v, true
		}
	}
	return verdict{}, false
}

// fail answers with an error. A client that is gone is answered nothing.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil && !stopping(r.Context()) && errors.Is(err, context.Cause(r.Context())) {
		abort()
	}
	v, known := judge(err)
	if !known {
		s.options.Log.Error("request failed", "op", r.Pattern, "topic", r.PathValue("topic"), "error", err)
		err = errInternal
		v, _ = judge(err)
	}
	h := w.Header()
	if v.retry > 0 {
		h.Set("Retry-After", strconv.Itoa(v.retry))
	}
	if v.status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", "Bearer")
	}
	s.write(w, v.status, apiError(err, r))
}

// apiError is an error as a client sees it.
func apiError(err error, r *http.Request) api.APIError {
	v, _ := judge(err)
	a := api.APIError{Error: v.err.Error(), Code: v.code, Hint: v.hint, Next: next(v.code, r)}
	if errors.Is(err, topicactor.ErrStopped) {
		a.Error = ErrShutdown.Error()
	}
	if v.status == http.StatusUnauthorized {
		a.Error += wrongToken(r)
	}
	if topic, ok := topicOf(r); ok {
		a.Topic = topic
	}
	if e := (*lease.ConflictError)(nil); errors.As(err, &e) {
		a.Capacity = &e.Capacity
		a.Hint = fmt.Sprintf("Repeat with capacity=%d, or leave capacity out.", e.Capacity)
		a.Next = &api.NextRequest{Method: http.MethodPost, Path: "/" + a.Topic + query(r, "capacity", strconv.Itoa(e.Capacity))}
	}
	if e := (*paramError)(nil); errors.As(err, &e) {
		a.Parameters = e.problems
	}
	return a
}

// wrongToken adds to a refusal what is wrong with the token that came, so that who sent one does not look for how to.
func wrongToken(r *http.Request) string {
	switch {
	case r.Header["Authorization"] == nil:
		return ""
	case bearer(r) == "":
		return "; the header Authorization has no Bearer <token> in it"
	}
	return "; the one that was sent is not"
}

// next is the one request that leads on, where there is one.
func next(code api.ErrorCode, r *http.Request) *api.NextRequest {
	topic, ok := topicOf(r)
	switch code {
	case api.ErrorCodeNoRoute:
		return &api.NextRequest{Method: http.MethodGet, Path: "/llms.txt"}
	case api.ErrorCodeNotFound:
		if ok {
			return &api.NextRequest{Method: http.MethodGet, Path: "/" + topic}
		}
	}
	return nil
}

// query is the request's own query with one parameter set. It keeps the order that the client sent.
func query(r *http.Request, name, value string) string {
	var parts []string
	for part := range strings.SplitSeq(r.URL.RawQuery, "&") {
		if part != "" && !strings.HasPrefix(part, name+"=") {
			parts = append(parts, part)
		}
	}
	return "?" + strings.Join(append(parts, name+"="+value), "&")
}

// topicOf gives the request's topic, if it names a proper one.
func topicOf(r *http.Request) (string, bool) {
	t, err := lease.ParseTopic(r.PathValue("topic"))
	return string(t), err == nil
}

// ceilMillis rounds up: who comes back then does not come too early.
func ceilMillis(d time.Duration) time.Duration {
	return time.Duration(math.Ceil(float64(d)/1e6)) * time.Millisecond
}
