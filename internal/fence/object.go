package fence

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Object is a fence behind a URL that takes conditional requests: an object store, a WebDAV share, anything that gives
// a strong ETag to GET and honours If-Match and If-None-Match on PUT.
type Object struct {
	URL    string
	Header http.Header  // sent along, such as Authorization; may be nil
	Client *http.Client // nil: the default one
}

// tries bounds how often Admit starts over when others write between its look and its own write.
const tries = 20

// Admit refuses n with a [StaleError] if a higher one is kept behind the URL, and keeps it otherwise.
func (o Object) Admit(ctx context.Context, n int64) error {
	for range tries {
		highest, tag, err := o.look(ctx)
		if err != nil {
			return err
		}
		if err := admit(o.where(), n, highest); err != nil {
			return err
		}
		if n == highest {
			return nil
		}
		if kept, err := o.put(ctx, n, tag); kept || err != nil {
			return err
		}
	}
	return fmt.Errorf("%s was written by others %d times in a row: try again", o.where(), tries)
}

// Highest gives the fence behind the URL, 0 if there is none.
func (o Object) Highest(ctx context.Context) (int64, error) {
	n, _, err := o.look(ctx)
	return n, err
}

// look gives the fence and the tag of the version that has it; both are zero where there is no object.
func (o Object) look(ctx context.Context) (highest int64, tag string, err error) {
	r, body, err := o.do(ctx, http.MethodGet, nil, "")
	switch {
	case err != nil:
		return 0, "", err
	case r.StatusCode == http.StatusNotFound:
		return 0, "", nil
	case r.StatusCode != http.StatusOK:
		return 0, "", o.unexpected(r)
	}
	tag = r.Header.Get("ETag")
	if tag == "" || strings.HasPrefix(tag, "W/") {
		return 0, "", fmt.Errorf("%s has no strong ETag, so nothing can be written on a condition there", o.where())
	}
	highest, err = kept(o.where(), strings.TrimSpace(body))
	return highest, tag, err
}

// put writes n over the version with the tag, or where there is none yet. It reports false if that is not the newest.
func (o Object) put(ctx context.Context, n int64, tag string) (bool, error) {
	condition := http.Header{"If-Match": {tag}}
	if tag == "" {
		condition = http.Header{"If-None-Match": {"*"}}
	}
	r, _, err := o.do(ctx, http.MethodPut, condition, fmt.Sprintln(n))
	if err != nil {
		return false, fmt.Errorf("whether fence %d was kept is unknown, so repeat: %w", n, err)
	}
	switch r.StatusCode {
	case http.StatusOK, http.StatusCreated, http.StatusNoContent:
		return true, nil
	case http.StatusPreconditionFailed, http.StatusConflict, http.StatusNotFound:
		return false, nil
	}
	return false, o.unexpected(r)
}

func (o Object) do(ctx context.Context, method string, condition http.Header, body string) (*http.Response, string, error) {
	q, err := http.NewRequestWithContext(ctx, method, o.URL, strings.NewReader(body))
	if err != nil {
		return nil, "", errors.New("not a URL to keep a fence behind: use http://… or https://…")
	}
	for _, h := range []http.Header{o.Header, condition} {
		for name, values := range h {
			q.Header[name] = values
		}
	}
	if method == http.MethodPut {
		q.Header.Set("Content-Type", "text/plain")
	}
	c := o.Client
	if c == nil {
		c = http.DefaultClient
	}
	r, err := c.Do(q)
	if err != nil {
		return nil, "", fmt.Errorf("no answer from %s: %w", o.where(), cause(err))
	}
	defer r.Body.Close()
	b, err := io.ReadAll(io.LimitReader(r.Body, maxFile))
	return r, string(b), err
}

func (o Object) unexpected(r *http.Response) error {
	return fmt.Errorf("%s %s answered %s", r.Request.Method, o.where(), r.Status)
}
