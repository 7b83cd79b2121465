package httpserver_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	mutex "legible.sh/mutex"
	"legible.sh/mutex/internal/httpserver"
	"legible.sh/mutex/internal/journal"
	"legible.sh/mutex/internal/policy"
	"legible.sh/mutex/internal/testlog"
	"legible.sh/mutex/internal/web"
	"legible.sh/mutex/registry"
)

const adminToken = "admin-token-of-the-tests"

// server is a real server on a loopback port, whose every answer is held against the document.
type server struct {
	*httptest.Server
	registry *registry.Registry
	policy   *policy.Policy
	shutdown func() // cancels the base context, as a stopping server does
	log      *testlog.Buffer
	closed   atomic.Int64 // connections that have ended
}

// options are those of the default settings, with small limits where a test needs to reach them.
func options() (httpserver.Options, registry.Options, policy.Options) {
	limits := policy.Limits{MaxTTL: time.Hour, MaxWait: 300 * time.Second, MaxCapacity: 1024, MaxWaiters: 1024}
	return httpserver.Options{
			Pages: web.New(), Version: "test", Heartbeat: 25 * time.Second, BodyTimeout: 10 * time.Second,
			Limits: httpserver.Limits{MaxTTL: time.Hour, MaxWait: 300 * time.Second, MaxCapacity: 1024, MaxWaiters: 1024, MaxBody: 4096},
		},
		registry.Options{MaxTopics: 10_000, TopicIdle: time.Hour, Keep: 30 * time.Second, Journal: journal.Memory{}},
		policy.Options{AdminToken: adminToken, Limits: limits}
}

// start runs a server with options changed by the test.
func start(t testing.TB, change func(*httpserver.Options, *registry.Options, *policy.Options)) *server {
	t.Helper()
	s := prepare(t, change)
	s.Start()
	return s
}

// prepare makes a server that is still to be started.
func prepare(t testing.TB, change func(*httpserver.Options, *registry.Options, *policy.Options)) *server {
	t.Helper()
	o, ro, po := options()
	s := &server{log: new(testlog.Buffer)}
	o.Log = slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if change != nil {
		change(&o, &ro, &po)
	}
	s.registry = registry.New(ro)
	s.registry.Open()
	s.policy = policy.New(po)
	o.Registry, o.Policy = s.registry, s.policy
	handler, err := httpserver.New(o)
	if err != nil {
		t.Fatal(err)
	}
	base, cancel := context.WithCancelCause(context.Background())
	s.shutdown = func() { cancel(httpserver.ErrShutdown) }
	s.Server = httptest.NewUnstartedServer(handler)
	s.Config.BaseContext = func(net.Listener) context.Context { return base }
	s.Config.ReadHeaderTimeout = 10 * time.Second
	s.Config.ConnContext = httpserver.ConnContext
	s.Listener = httpserver.Listen(s.Listener)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			s.closed.Add(1)
		}
	}
	t.Cleanup(func() {
		s.shutdown()
		s.CloseClientConnections()
		s.Close()
		if err := s.registry.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	text   string
	json   map[string]any
}

func (a answer) str(key string) string {
	v, _ := a.json[key].(string)
	return v
}

// call sends one request; headers come in pairs. The path goes out as it is written.
func (s *server) call(t testing.TB, method, path string, headers ...string) answer {
	t.Helper()
	return s.callBody(t, method, path, "", headers...)
}

func (s *server) callBody(t testing.TB, method, path, body string, headers ...string) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.URL, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.URL.Opaque = path // as it is, however odd
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
			continue
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := noRedirects.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	a := answer{status: res.StatusCode, header: res.Header, text: string(b)}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "application/json") && len(b) > 0 {
		if err := json.Unmarshal(b, &a.json); err != nil {
			t.Fatalf("%s %s: %v in %q", method, path, err, b)
		}
	}
	if res.StatusCode >= 400 && method != http.MethodHead {
		explains(t, a)
	}
	conforms(t, method, path, a)
	return a
}

var noRedirects = &http.Client{
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	Transport:     &http.Transport{MaxIdleConnsPerHost: 64},
}

// explains holds an error to what every error must say.
func explains(t testing.TB, a answer) {
	t.Helper()
	for _, field := range []string{"error", "code", "hint"} {
		if a.str(field) == "" {
			t.Errorf("%d without %s: %s", a.status, field, a.text)
		}
	}
	if a.status == 401 && a.header.Get("WWW-Authenticate") == "" || a.status == 405 && a.header.Get("Allow") == "" ||
		(a.status == 429 || a.status == 503) && a.header.Get("Retry-After") == "" {
		t.Errorf("%d %s lacks its header: %v", a.status, a.str("code"), a.header)
	}
}

// document is openapi.yaml with a router over it.
var document = sync.OnceValues(func() (*openapi3.T, routers.Router) {
	for _, kind := range []string{"text/markdown", "text/html", "text/event-stream"} {
		openapi3filter.RegisterBodyDecoder(kind, openapi3filter.PlainBodyDecoder)
	}
	doc, err := openapi3.NewLoader().LoadFromData(mutex.SpecYAML)
	if err != nil {
		panic(err)
	}
	doc.Servers = nil
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		panic(err)
	}
	return doc, router
})

// conforms holds an answer to the document. What it does not describe (odd paths, HEAD, a page in place of JSON) is
// left to the test itself.
func conforms(t testing.TB, method, path string, a answer) {
	t.Helper()
	if method == http.MethodHead || method == http.MethodOptions || strings.HasPrefix(a.header.Get("Content-Type"), "text/html") {
		return
	}
	_, router := document()
	r, err := http.NewRequest(method, "http://host"+path, nil)
	if err != nil {
		return
	}
	route, params, err := router.FindRoute(r)
	if err != nil {
		return
	}
	err = openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route},
		Status:                 a.status,
		Header:                 a.header,
		Body:                   io.NopCloser(strings.NewReader(a.text)),
		Options:                &openapi3filter.Options{IncludeResponseStatus: true},
	})
	if err != nil {
		t.Errorf("%s %s: the answer is not what the document says: %v", method, path, err)
	}
}

// acquire takes a lease and gives it with its fence.
func (s *server) acquire(t testing.TB, path string, headers ...string) (lease string, fence int) {
	t.Helper()
	a := s.call(t, "POST", path, headers...)
	if a.status != 200 {
		t.Fatalf("POST %s: %d %s", path, a.status, a.text)
	}
	return a.str("lease"), int(a.json["fence"].(float64))
}

// eventually waits for something that another goroutine brings about.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("not within 10 s: %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}

// waiting tells how many wait on a topic.
func (s *server) waiting(t testing.TB, topic string) int {
	t.Helper()
	return int(s.call(t, "GET", "/"+topic).json["waiting"].(float64))
}
