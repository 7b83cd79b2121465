package httpserver

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// Browsers are kept from other people's pages in two ways. A state-changing request from another origin is refused
// (the standard library's cross-origin protection). And a server that only listens on loopback answers only to names
// of loopback, so that a name that is made to resolve to 127.0.0.1 (DNS rebinding) does not become an origin of its own.

func (s *Server) allowHosts() {
	s.hosts = map[string]bool{"localhost": true}
	if s.options.BaseURL != nil {
		s.hosts[strings.ToLower(s.options.BaseURL.Hostname())] = true
	}
	for _, h := range s.options.AllowedHosts {
		s.hosts[strings.ToLower(h)] = true
	}
}

// knownHost tells whether a request's host is one that this server goes by. Most requests name the host that the one
// before them named, and need no parsing.
func (s *Server) knownHost(r *http.Request) bool {
	if last := s.lastHost.Load(); last != nil && *last == r.Host {
		return true
	}
	if !s.admitsHost(r.Host) {
		return false
	}
	host := strings.Clone(r.Host) // not the whole header along with it
	s.lastHost.Store(&host)
	return true
}

func (s *Server) admitsHost(host string) bool {
	if !plainHost(host) {
		return false
	}
	if !s.options.CheckHost {
		return true
	}
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	if s.hosts[host] {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// plainHost tells whether a host is fit to be a part of the links in an answer. net/http looks at the Host header, but
// not at the host of a request whose target is a whole URL.
func plainHost(host string) bool {
	for i := range len(host) {
		if c := host[i]; c <= ' ' || c >= 0x7f || c == '"' || c == '<' || c == '>' || c == '\\' {
			return false
		}
	}
	return true
}

func (s *Server) refuseHost(w http.ResponseWriter, r *http.Request) {
	s.fail(w, r, errHost)
}

func (s *Server) allowOrigins() error {
	s.origins = http.NewCrossOriginProtection()
	s.cors = make(map[string]bool)
	for _, o := range s.options.CORSOrigins {
		s.cors[o] = true
		if o == "*" {
			continue
		}
		if err := s.origins.AddTrustedOrigin(o); err != nil {
			return fmt.Errorf("cors origin %q: %w; send scheme://host[:port] or *", o, err)
		}
	}
	return nil
}

// pageHeaders are what a page of an allowed origin may send, MCP's and the trace's among them.
const pageHeaders = "Authorization, Content-Type, Idempotency-Key, Last-Event-ID, X-Lease, X-Name, X-Reason, X-Host, X-Pid, " +
	"X-Request-Id, Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, Traceparent, Tracestate"

// crossOrigin refuses a write from another origin, and says to a browser what an allowed one may do. It tells whether
// the request goes on.
func (s *Server) crossOrigin(w http.ResponseWriter, r *http.Request) bool {
	origin := r.Header.Get("Origin")
	allowed := origin != "" && (s.cors["*"] || s.cors[origin])
	if !s.cors["*"] && s.origins.Check(r) != nil {
		s.fail(w, r, errCrossOrigin)
		return false
	}
	if len(s.cors) > 0 {
		w.Header().Add("Vary", "Origin")
	}
	if !allowed {
		return true
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", "Idempotency-Replayed, Mcp-Session-Id, Retry-After, Server-Timing, X-Request-Id")
	if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
		h.Set("Access-Control-Allow-Methods", "GET, HEAD, POST, DELETE")
		h.Set("Access-Control-Allow-Headers", pageHeaders)
		h.Set("Access-Control-Max-Age", "600")
	}
	return true
}
