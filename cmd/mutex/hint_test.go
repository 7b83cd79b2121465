package main

import (
	"crypto/tls"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"legible.sh/mutex/internal/locker"
)

// TestHintOfAnUntrustedCertificate: the server runs, so nobody is told to start one.
func TestHintOfAnUntrustedCertificate(t *testing.T) {
	err := &locker.UnreachableError{Where: "https://box", Err: &tls.CertificateVerificationError{Err: errors.New("unknown authority")}}
	if hint := new(target).hint(err); !strings.Contains(hint, "SSL_CERT_FILE") || strings.Contains(hint, "mutex serve") {
		t.Error(hint)
	}
}

// TestAPathInTheURLIsDoubted where the server did not know what to do with it, and nowhere else.
func TestAPathInTheURLIsDoubted(t *testing.T) {
	s := startServer(t)
	hint := "the URL has a path, /some/path"
	for _, path := range []string{"/some/path", "/some/path/"} {
		for args, code := range map[string]int{"status t": 1, "acquire t": 1, "list": 1, "run t -- true": 1} {
			s.mutex(append([]string{"--url", s.url + path}, strings.Fields(args)...)...).wants(t, code, hint, "--url "+s.url)
		}
	}
	s.mutex("status", "t", "--url", s.url+"/some").wants(t, 2, "the URL has a path, /some")
	s.mutex("status", "t", "--url", s.url+"/").wants(t, 0)
	proxy := httptest.NewServer(http.StripPrefix("/some/path", httputil.NewSingleHostReverseProxy(parse(t, s.url))))
	defer proxy.Close()
	s.mutex("run", "t", "--url", proxy.URL+"/some/path", "--", "true").wants(t, 0)
	if r := s.mutex("acquire", "t", "--ttl", "1e6", "--url", proxy.URL+"/some/path").wants(t, 2, "ttl"); strings.Contains(r.err, hint) {
		t.Error("doubted it:", r.err)
	}
}

func parse(t *testing.T, raw string) *url.URL {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
