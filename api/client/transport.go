package client

import (
	"context"
	"net"
	"net/http"
	"time"
)

// transports gives the client for most calls, and one that opens a connection for each.
func transports(given *http.Client, socket string) (pooled, fresh *http.Client) {
	if given == nil {
		given = &http.Client{Transport: newTransport(socket)}
	}
	p, f := *given, *given
	// A redirect would turn a POST into a GET, and hand tokens to whoever it names.
	p.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	f.CheckRedirect = p.CheckRedirect
	t, ok := given.Transport.(*http.Transport)
	switch {
	case given.Transport == nil:
		t = http.DefaultTransport.(*http.Transport)
	case !ok:
		return &p, &f
	}
	t = t.Clone()
	t.DisableKeepAlives = true
	f.Transport = t
	return &p, &f
}

// newTransport dials fast or fails fast: a lease may be as short as a tenth of a second, and whoever waits
// tries again.
func newTransport(socket string) *http.Transport {
	dialer := &net.Dialer{Timeout: 5 * time.Second, KeepAlive: 15 * time.Second}
	t := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           dialer.DialContext,
		ForceAttemptHTTP2:     true,
		TLSHandshakeTimeout:   5 * time.Second,
		ExpectContinueTimeout: time.Second,
		MaxIdleConnsPerHost:   64,
		IdleConnTimeout:       90 * time.Second,
	}
	if socket != "" {
		t.Proxy = nil
		t.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, "unix", socket)
		}
	}
	return t
}
