package client

import (
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"legible.sh/mutex/api"
)

// Client speaks to one server. Make it with [New]; it may be used from several goroutines.
type Client struct {
	where  string // the URL, for errors: without credentials
	pooled *api.Client
	fresh  *api.Client // a new connection for every call
	// suspect says that the last call over a pooled connection got no answer. Connections die silently, so calls
	// go over new ones until one is answered.
	suspect atomic.Bool

	token, adminToken string
	userAgent         string
	traceParent       string
	giveUp            time.Duration
	now               func() instant
}

// Option sets one thing of a [Client].
type Option func(*settings)

type settings struct {
	client *Client
	http   *http.Client
}

// WithToken sends a token with every call, for servers that ask for one.
func WithToken(token string) Option {
	return func(s *settings) { s.client.token = token }
}

// WithAdminToken sends another token with the calls that need the admin's: [Client.Topics], [Client.AllHistory],
// [Client.Prune] and [Client.ForceRelease].
func WithAdminToken(token string) Option {
	return func(s *settings) { s.client.adminToken = token }
}

// WithHTTPClient sends calls through h, whose Timeout must be 0 or longer than 25 s. If h has an
// [http.Transport], or none, a copy of it serves the calls that need a new connection.
func WithHTTPClient(h *http.Client) Option {
	return func(s *settings) { s.http = h }
}

// WithUserAgent says which program calls; "mutex-go" else.
func WithUserAgent(name string) Option {
	return func(s *settings) { s.client.userAgent = name }
}

// WithTraceParent sends a W3C trace context with every request, so that a server that traces joins the caller's trace.
// One that no header can carry is left out, as the standard asks. A program that makes spans of its own rather gives [WithHTTPClient] a transport that carries them.
func WithTraceParent(parent string) Option {
	return func(s *settings) {
		if carries(parent) {
			s.client.traceParent = parent
		}
	}
}

// WithGiveUp bounds the time that [Client.Acquire] takes after its context has ended to give up its place or its
// lease: 1 s else. A place that could not be given up is passed over; a lease ends by its ttl.
func WithGiveUp(d time.Duration) Option {
	return func(s *settings) { s.client.giveUp = d }
}

// New makes a client of the server at url: http://host:port, https://host/path, or unix:///path/to/socket.
// Nothing is sent yet.
func New(url string, opts ...Option) (*Client, error) {
	base, dial, err := parseURL(url)
	if err != nil {
		return nil, err
	}
	s := settings{client: &Client{userAgent: "mutex-go", giveUp: time.Second, now: bootTime}}
	for _, opt := range opts {
		opt(&s)
	}
	c := s.client
	if !carries(c.token) || !carries(c.adminToken) { // or every call would fail before it is sent, and be tried again
		return nil, errors.New("mutex: the token has a line end or another character that no header can carry")
	}
	c.where = shown(url)
	pooled, fresh := transports(s.http, dial)
	c.pooled = &api.Client{Server: base, Client: pooled}
	c.fresh = &api.Client{Server: base, Client: fresh}
	return c, nil
}

// URL is the server's URL as it was given, without credentials.
func (c *Client) URL() string { return c.where }

// parseURL gives the base of all request URLs, ending in a slash, and the socket's path of a unix URL.
func parseURL(raw string) (base, socket string, err error) {
	u, err := url.Parse(raw)
	if err != nil {
		return "", "", fmt.Errorf("mutex: %q is not a URL: use http://host:port, https://host or unix:///path", shown(raw))
	}
	switch {
	case u.Scheme == "unix" && u.Host == "" && strings.HasPrefix(u.Path, "/"):
		return "http://localhost/", u.Path, nil
	case (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "":
		u.RawQuery, u.Fragment = "", ""
		return strings.TrimSuffix(u.String(), "/") + "/", "", nil
	}
	return "", "", fmt.Errorf("mutex: %q is not a server's URL: use http://host:port, https://host or unix:///path", shown(raw))
}

// shown is a URL without the credentials that it may hold.
func shown(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		if _, rest, found := strings.Cut(raw, "@"); found {
			return "…@" + rest
		}
		return raw
	}
	u.User = nil
	return u.String()
}

// carries says whether a header can have the value.
func carries(value string) bool {
	return !strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

// checkTopic keeps a name from being sent as another path.
func checkTopic(topic string) error {
	ok := len(topic) >= 1 && len(topic) <= 64 && topic != "-"
	for _, r := range topic {
		ok = ok && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == ':' || r == '-')
	}
	if !ok {
		return fmt.Errorf("%w: %.80q", ErrBadTopic, topic)
	}
	return nil
}

// newKey makes an Idempotency-Key: 26 characters, 130 random bits.
func newKey() string { return rand.Text() }

func duration(seconds float64) time.Duration {
	return time.Duration(math.Round(seconds * float64(time.Second)))
}
