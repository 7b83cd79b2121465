package bench

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"strings"
)

// target is a server's address, and what every request to it begins with.
type target struct {
	network, addr string
	tls           *tls.Config // nil: plain
	prefix        string      // of every path, for a server behind one
	header        string      // lines of every request
}

func parseTarget(raw, token string) (*target, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("%q is no URL: give http://host:port, https://host or unix:///path", raw)
	}
	t := &target{network: "tcp", prefix: strings.TrimSuffix(u.Path, "/")}
	host := u.Host
	switch {
	case u.Scheme == "unix" && u.Path != "":
		t.network, t.addr, t.prefix, host = "unix", u.Path, "", "localhost"
	case u.Scheme == "http" && host != "":
		t.addr = withPort(u, "80")
	case u.Scheme == "https" && host != "":
		t.addr = withPort(u, "443")
		t.tls = &tls.Config{ServerName: u.Hostname(), MinVersion: tls.VersionTLS12}
	default:
		return nil, fmt.Errorf("%q is no server: give http://host:port, https://host or unix:///path", raw)
	}
	t.header = "Host: " + host + "\r\n"
	if token != "" {
		t.header += "Authorization: Bearer " + token + "\r\n"
	}
	return t, nil
}

func withPort(u *url.URL, port string) string {
	if u.Port() != "" {
		port = u.Port()
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// as is the same server, spoken to with another token.
func (t target) as(token string) *target {
	first, _, _ := strings.Cut(t.header, "\r\n")
	t.header = first + "\r\nAuthorization: Bearer " + token + "\r\n"
	return &t
}

// request makes the bytes of a request without a body. Each header is "Name: value".
func (t *target) request(method, path string, headers ...string) []byte {
	var b strings.Builder
	b.WriteString(method + " " + t.prefix + path + " HTTP/1.1\r\n" + t.header)
	for _, h := range headers {
		b.WriteString(h + "\r\n")
	}
	if method != "GET" {
		b.WriteString("Content-Length: 0\r\n")
	}
	b.WriteString("\r\n")
	return []byte(b.String())
}

// dial opens a connection that fails as soon as the context ends.
func (t *target) dial(ctx context.Context) (*conn, error) {
	var d net.Dialer
	nc, err := d.DialContext(ctx, t.network, t.addr)
	if err != nil {
		return nil, fmt.Errorf("no server answers: %w", err)
	}
	if t.tls != nil {
		secured := tls.Client(nc, t.tls)
		if err := secured.HandshakeContext(ctx); err != nil {
			return nil, fmt.Errorf("tls: %w", err)
		}
		nc = secured
	}
	return newConn(ctx, nc), nil
}
