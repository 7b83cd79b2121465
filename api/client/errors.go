package client

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"legible.sh/mutex/api"
)

// What can go wrong, as kinds for [errors.Is].
var (
	// ErrBusy: held by others, and the call was not to wait.
	ErrBusy = errors.New("mutex: held by others")
	// ErrTimeout: held by others for as long as the wait lasted.
	ErrTimeout = errors.New("mutex: not granted within the wait")
	// ErrLost: the lease is over. The server said so, or it could not be confirmed in time; the latter is also
	// an [ErrUnconfirmed].
	ErrLost = errors.New("mutex: the lease is lost")
	// ErrUnconfirmed: no renewal was confirmed in time, so the lease counts as lost.
	ErrUnconfirmed = fmt.Errorf("%w: not confirmed in time", ErrLost)
	// ErrReleased is the cause with which [Lease.Context] ends after [Lease.Release].
	ErrReleased = errors.New("mutex: the lease was released")
	// ErrUnreachable: no answer came, or one that is not the server's own. What was asked may have been done.
	ErrUnreachable = errors.New("mutex: no answer from the server")
	// ErrBadTopic: not a name that a topic can have. Nothing was sent.
	ErrBadTopic = errors.New("mutex: not a topic: 1 to 64 of a-z A-Z 0-9 _ : - but not - alone")
)

// Error is a refusal in the server's own words.
type Error struct {
	Status     int           // of HTTP
	Code       api.ErrorCode // what it is, for programs
	Message    string        // what it is, for people
	Hint       string        // what to do about it
	Topic      string
	Holders    []string      // with BUSY and TIMEOUT: names, by fence
	Waiting    int           // with BUSY and TIMEOUT: how many wait
	Position   int           // the kept place in line, 1 is next; 0 for none
	RetryAfter time.Duration // with BUSY and TIMEOUT until the earliest lease ends; else when to try again; 0 if unknown
	Capacity   int           // with CONFLICT: the real one
	Parameters []api.ParameterProblem
}

// Error gives the message and the hint.
func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + ". " + e.Hint
}

// Is makes BUSY an [ErrBusy], TIMEOUT an [ErrTimeout], and a lease that is gone an [ErrLost].
func (e *Error) Is(target error) bool {
	switch e.Code {
	case api.ErrorCodeBusy:
		return target == ErrBusy
	case api.ErrorCodeTimeout:
		return target == ErrTimeout
	case api.ErrorCodeNotFound:
		return target == ErrLost && e.Topic != ""
	}
	return false
}

func refusal(status int, body *api.APIError) *Error {
	e := &Error{
		Status: status, Code: body.Code, Message: body.Error, Hint: body.Hint, Topic: body.Topic,
		Holders: body.Holders, Parameters: body.Parameters,
		Waiting: value(body.Waiting), Position: value(body.Position), Capacity: value(body.Capacity),
	}
	if body.RetryAfter != nil {
		e.RetryAfter = duration(*body.RetryAfter)
	}
	return e
}

// UnreachableError says which server gave no answer, and why.
type UnreachableError struct {
	URL    string // without credentials
	Status int    // of an answer that was not the server's own, else 0
	Err    error
}

func (e *UnreachableError) Error() string { return fmt.Sprintf("no answer from %s: %v", e.URL, e.Err) }

// Unwrap gives [ErrUnreachable] and the cause.
func (e *UnreachableError) Unwrap() []error { return []error{ErrUnreachable, e.Err} }

// foreign is an answer without a code of ours: somebody in between spoke, or this is another server.
func foreign(r *http.Response) error {
	if to := r.Header.Get("Location"); to != "" && r.StatusCode/100 == 3 {
		return fmt.Errorf("%s to %s: is that the URL to use?", r.Status, to)
	}
	return fmt.Errorf("%s, and not in the words of a mutex server", r.Status)
}

func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
