package client_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"legible.sh/mutex/api/client"
)

// fake is a server without sockets, so that it works in a bubble of false time. It writes down every request and
// answers as the test says.
type fake struct {
	start  time.Time
	answer func(r *http.Request, nth int) (*http.Response, error)

	mu   sync.Mutex // guards log, which requests write and tests read
	log  []string
	reqs []*http.Request
}

func newFake(answer func(r *http.Request, nth int) (*http.Response, error)) *fake {
	return &fake{start: time.Now(), answer: answer}
}

// RoundTrip notes a request as "seconds METHOD path?query" and answers it, or ends when it is given up.
func (f *fake) RoundTrip(r *http.Request) (*http.Response, error) {
	f.mu.Lock()
	nth := len(f.reqs)
	f.reqs = append(f.reqs, r)
	f.log = append(f.log, fmt.Sprintf("%v %s %s", time.Since(f.start).Round(time.Second).Seconds(), r.Method, r.URL.RequestURI()))
	f.mu.Unlock()
	return f.answer(r, nth)
}

func (f *fake) requests() []*http.Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]*http.Request(nil), f.reqs...)
}

func (f *fake) lines() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.log, "\n")
}

func (f *fake) client(t *testing.T, opts ...client.Option) *client.Client {
	t.Helper()
	opts = append(opts, client.WithHTTPClient(&http.Client{Transport: f}))
	c, err := client.New("http://fake:1", opts...)
	if err != nil {
		t.Fatal(err)
	}
	c.UseClock(func() time.Duration { return time.Since(f.start) + time.Hour })
	return c
}

const lease = "5f0c8a1e6b7d4c3f9a2b1d0e8c7f6a54"

func reply(status int, body string) (*http.Response, error) {
	return &http.Response{
		StatusCode: status, Status: strconv.Itoa(status) + " " + http.StatusText(status), Header: http.Header{},
		Body: io.NopCloser(strings.NewReader(body)),
	}, nil
}

func refuse(status int, code string) (*http.Response, error) {
	return reply(status, fmt.Sprintf(`{"error":"it is %s","code":%q,"hint":"wait","topic":"t","holders":["worker-3"],"position":2}`, code, code))
}

func granted(ttl float64) (*http.Response, error) {
	return reply(200, fmt.Sprintf(`{"topic":"t","lease":%q,"name":"n","fence":42,"slot":1,"ttl":%v,"capacity":3,"holders":["n"]}`, lease, ttl))
}

func renewed(ttl float64) (*http.Response, error) {
	return reply(200, fmt.Sprintf(`{"topic":"t","lease":%q,"name":"n","fence":42,"ttl":%v}`, lease, ttl))
}

func released() (*http.Response, error) {
	return reply(200, `{"released":true,"topic":"t","fence":42}`)
}

var errRefused = errors.New("connection refused")

// hang answers nothing until the request is given up.
func hang(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func isAcquire(r *http.Request) bool {
	return r.Method == http.MethodPost && !strings.HasSuffix(r.URL.Path, "/renew")
}
func isRenew(r *http.Request) bool   { return strings.HasSuffix(r.URL.Path, "/renew") }
func isRelease(r *http.Request) bool { return r.Method == http.MethodDelete }
