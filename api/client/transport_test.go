package client_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"legible.sh/mutex/api/client"
)

// TestAConnectionThatFellSilentIsNotUsedAgain: over HTTP/2 a call that is given up leaves its connection in the
// pool, dead or not.
func TestAConnectionThatFellSilentIsNotUsedAgain(t *testing.T) {
	var mu sync.Mutex
	var from []string
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		from = append(from, r.RemoteAddr)
		n := len(from)
		mu.Unlock()
		if n == 2 {
			<-r.Context().Done()
			return
		}
		_, _ = w.Write([]byte(`{"topic":"t","name":"n","fence":1,"ttl":60}`))
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	c, err := client.New(s.URL, client.WithHTTPClient(s.Client()))
	if err != nil {
		t.Fatal(err)
	}
	renew := func(limit time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		_, err := c.Renew(ctx, "t", lease, 0)
		return err
	}
	if err := renew(time.Minute); err != nil {
		t.Fatal(err)
	}
	if err := renew(50 * time.Millisecond); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, client.ErrUnreachable) {
		t.Fatal(err)
	}
	if err := renew(time.Minute); err != nil {
		t.Fatal(err)
	}
	if from[0] != from[1] || from[1] == from[2] {
		t.Errorf("came from %v: the silent connection was used again", from)
	}
}

func TestUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(`{"topic":"` + strings.TrimPrefix(r.URL.Path, "/") + `","state":"free","capacity":null,"holders":[],"waiting":0,"waiters":[]}`))
	}))
	s.Listener = l
	s.Start()
	defer s.Close()
	c, err := client.New("unix://" + path)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := c.Status(t.Context(), "deploy:staging"); err != nil || v.Topic != "deploy:staging" {
		t.Error(v, err)
	}
}

func TestURLsThatAreNone(t *testing.T) {
	for _, url := range []string{"", "localhost:4185", "127.0.0.1:4185", "ftp://h", "http://", "unix://rel", "http://%zz"} {
		if _, err := client.New(url); err == nil || !strings.Contains(err.Error(), "unix:///path") {
			t.Errorf("%q: %v", url, err)
		}
	}
}

func TestAPathBeforeTheTopicsAndAnIPv6Host(t *testing.T) {
	f := newFake(func(*http.Request, int) (*http.Response, error) { return granted(60) })
	c, err := client.New("https://[::1]:8443/locks", client.WithHTTPClient(&http.Client{Transport: f}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Grant(t.Context(), "a:b", client.Wait(0)); err != nil {
		t.Fatal(err)
	}
	if got := f.requests()[0].URL.String(); got != "https://[::1]:8443/locks/a:b" {
		t.Error(got)
	}
}

// TestATokenThatNoHeaderCarries is refused at once: calls with it would be tried again for as long as the wait lasts.
func TestATokenThatNoHeaderCarries(t *testing.T) {
	for _, option := range []client.Option{client.WithToken("s3cret\nx"), client.WithAdminToken("s3cret\x7f")} {
		if _, err := client.New("http://h", option); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Error(err)
		}
	}
	f := newFake(func(*http.Request, int) (*http.Response, error) { return granted(60) })
	c, err := client.New("http://h", client.WithHTTPClient(&http.Client{Transport: f}), client.WithTraceParent("00-ab\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Grant(t.Context(), "t", client.Wait(0)); err != nil || f.requests()[0].Header.Get("Traceparent") != "" {
		t.Error(err, "or a traceparent that is none was sent")
	}
}

// TestARedirectIsNotFollowed: it would make a GET of a POST, and its answer no grant.
func TestARedirectIsNotFollowed(t *testing.T) {
	s := httptest.NewServer(http.RedirectHandler("https://elsewhere.example/", http.StatusMovedPermanently))
	defer s.Close()
	c, err := client.New(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Status(t.Context(), "t"); err == nil || !strings.Contains(err.Error(), "https://elsewhere.example/") {
		t.Error(err)
	}
}

// TestAnotherServersAnswer: JSON of somebody else is not a topic that is neither free nor held.
func TestAnotherServersAnswer(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte("{}"))
	}))
	defer s.Close()
	c, err := client.New(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := c.Status(t.Context(), "t"); err == nil || !strings.Contains(err.Error(), "is this a mutex server?") {
		t.Error(v, err)
	}
}

func TestNoErrorShowsCredentials(t *testing.T) {
	c, err := client.New("http://user:s3cret@127.0.0.1:1", client.WithToken("s3cret"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err = c.Status(ctx, "t")
	if err == nil || strings.Contains(err.Error(), "s3cret") || !strings.Contains(err.Error(), "http://127.0.0.1:1") {
		t.Error(err)
	}
}
