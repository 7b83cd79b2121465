package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"legible.sh/mutex/api"
)

// maxAnswer bounds what is read of one answer: a list of 10,000 topics takes a few megabytes.
const maxAnswer = 64 << 20

// send makes one request with a client of the generated ones.
type send func(*api.Client, api.RequestEditorFn) (*http.Response, error)

// role says which token a call needs.
type role bool

const (
	user  role = false
	admin role = true
)

// call makes one request and takes its answer apart. Its error is an [*Error] if the server itself refused, an
// [*UnreachableError] if no answer of its own came, or the context's. There are no second tries here.
func call[T any](ctx context.Context, c *Client, as role, s send) (*T, *http.Response, error) {
	via := c.pooled
	if c.suspect.Load() {
		via = c.fresh
	}
	r, err := s(via, c.edit(as))
	if err != nil {
		return nil, nil, c.unreachable(ctx, err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(io.LimitReader(r.Body, maxAnswer))
	if err != nil {
		return nil, r, c.unreachable(ctx, fmt.Errorf("the answer was cut off: %w", err))
	}
	v, err := decode[T](r, body)
	if c.suspect.Store(false); err == nil {
		return v, r, nil
	}
	var refused *Error
	if errors.As(err, &refused) {
		return nil, r, refused
	}
	return nil, r, &UnreachableError{URL: c.where, Status: r.StatusCode, Err: err}
}

// decode gives the answer's value, an [*Error], or why it is neither. The code in the body decides, never the
// status alone: a 404 may be a proxy's.
func decode[T any](r *http.Response, body []byte) (*T, error) {
	if r.StatusCode == http.StatusOK {
		v := new(T)
		if err := json.Unmarshal(body, v); err != nil {
			return nil, fmt.Errorf("the answer is not in the words of a mutex server: %w", err)
		}
		return v, nil
	}
	var e api.APIError
	if json.Unmarshal(body, &e) != nil || e.Code == "" {
		return nil, foreign(r)
	}
	refused := refusal(r.StatusCode, &e)
	if s, err := strconv.Atoi(r.Header.Get("Retry-After")); err == nil && refused.RetryAfter == 0 {
		refused.RetryAfter = time.Duration(s) * time.Second
	}
	return nil, refused
}

// errSlow ends one attempt; the call may have others.
var errSlow = errors.New("it took too long")

// attempt bounds one attempt of a call.
func attempt(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, d, errSlow)
}

// unreachable makes the error of a call that got no answer.
func (c *Client) unreachable(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		if cause != errSlow && !errors.Is(cause, context.DeadlineExceeded) {
			return cause
		}
		err = cause
	}
	c.suspect.Store(true)
	var u *url.Error // says the URL again, with its query
	if errors.As(err, &u) {
		err = u.Err
	}
	return &UnreachableError{URL: c.where, Err: err}
}

func (c *Client) edit(as role) api.RequestEditorFn {
	token := c.token
	if as == admin && c.adminToken != "" {
		token = c.adminToken
	}
	return func(_ context.Context, r *http.Request) error {
		r.Header.Set("User-Agent", c.userAgent)
		if c.traceParent != "" {
			r.Header.Set("Traceparent", c.traceParent)
		}
		r.Header.Set("Accept", "application/json")
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		return nil
	}
}
