package httpserver_test

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"legible.sh/mutex/internal/httpserver"
	"legible.sh/mutex/internal/policy"
	"legible.sh/mutex/registry"
)

func TestLifeOfALease(t *testing.T) {
	s := start(t, nil)
	grant := s.call(t, "POST", "/deploy:staging?ttl=60&name=worker-3&reason=release+1.8&host=ci-7&pid=4711")
	lease := grant.str("lease")
	want := fmt.Sprintf(`{
  "topic": "deploy:staging",
  "lease": "%[1]s",
  "name": "worker-3",
  "fence": 1,
  "slot": 0,
  "ttl": 60,
  "expires": "TIME",
  "capacity": 1,
  "holders": [
    "worker-3"
  ],
  "renew": "%[2]s/deploy:staging/%[1]s/renew",
  "release": "%[2]s/deploy:staging/%[1]s"
}
`, lease, s.URL)
	if got := maskTimes(grant.text); got != want {
		t.Errorf("grant:\n%s\nwant:\n%s", got, want)
	}
	if again := s.call(t, "POST", "/deploy:staging"); again.status != 409 || again.str("code") != "BUSY" {
		t.Errorf("a second acquire: %d %s", again.status, again.text)
	}
	if a := s.call(t, "GET", "/deploy:staging/"+lease); a.status != 200 || a.json["fence"] != 1.0 {
		t.Errorf("check: %d %s", a.status, a.text)
	}
	if a := s.call(t, "POST", "/deploy:staging/"+lease+"/renew?ttl=0.5"); a.status != 200 || a.json["ttl"] != 0.5 {
		t.Errorf("renew: %d %s", a.status, a.text)
	}
	s.call(t, "POST", "/deploy:staging/-/renew?ttl=60", "X-Lease", lease)
	status := s.call(t, "GET", "/deploy:staging")
	holder := status.json["holders"].([]any)[0].(map[string]any)
	if holder["reason"] != "release 1.8" || holder["host"] != "ci-7" || holder["pid"] != 4711.0 || holder["renewed"] == nil {
		t.Errorf("status: %s", status.text)
	}
	if strings.Contains(status.text, lease) {
		t.Error("the status shows the lease")
	}
	if a := s.call(t, "DELETE", "/deploy:staging/-", "X-Lease", lease); a.status != 200 || a.json["released"] != true {
		t.Errorf("release: %d %s", a.status, a.text)
	}
	for _, call := range []struct{ method, path string }{
		{"DELETE", "/deploy:staging/" + lease}, {"GET", "/deploy:staging/" + lease}, {"POST", "/deploy:staging/" + lease + "/renew"},
	} {
		if a := s.call(t, call.method, call.path); a.status != 404 || a.str("code") != "NOT_FOUND" || a.str("topic") != "deploy:staging" {
			t.Errorf("%s of a lease that ended: %d %s", call.method, a.status, a.text)
		}
	}
	if _, fence := s.acquire(t, "/deploy:staging"); fence != 2 {
		t.Errorf("the next fence is %d", fence)
	}
}

var times = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`)

func maskTimes(s string) string { return times.ReplaceAllString(s, "TIME") }

func TestSemaphore(t *testing.T) {
	s := start(t, nil)
	first, _ := s.acquire(t, "/gpu?capacity=2&name=a")
	second := s.call(t, "POST", "/gpu?name=b")
	if second.json["slot"] != 1.0 || second.json["capacity"] != 2.0 {
		t.Errorf("second: %s", second.text)
	}
	if a := s.call(t, "POST", "/gpu?capacity=2"); a.str("code") != "BUSY" {
		t.Errorf("a third: %s", a.text)
	}
	conflict := s.call(t, "POST", "/gpu?ttl=30&capacity=3")
	if conflict.status != 409 || conflict.str("code") != "CONFLICT" || conflict.json["capacity"] != 2.0 {
		t.Errorf("another capacity: %s", conflict.text)
	}
	s.call(t, "DELETE", "/gpu/"+first)
	next := conflict.json["next"].(map[string]any)
	if a := s.call(t, next["method"].(string), next["path"].(string)); a.status != 200 || a.json["slot"] != 0.0 || a.json["ttl"] != 30.0 {
		t.Errorf("following next: %d %s", a.status, a.text)
	}
}

func TestEveryBadParameterIsNamed(t *testing.T) {
	s := start(t, nil)
	admin := []string{"Authorization", "Bearer " + adminToken}
	cases := []struct {
		method, path string
		headers      []string
		names        []string
	}{
		{"POST", "/a?ttl=0&wait=301&capacity=0&pid=0", nil, []string{"ttl", "wait", "capacity", "pid"}},
		{"POST", "/a?ttl=NaN&wait=Inf", nil, []string{"ttl", "wait"}},
		{"POST", "/a?ttl=0.0999&wait=-1&capacity=1025", nil, []string{"ttl", "wait", "capacity"}},
		{"POST", "/a?tll=60&ttl=3601", nil, []string{"tll", "ttl"}},
		{"POST", "/a?ttl=60&ttl=60", nil, []string{"ttl"}},
		{"POST", "/a?ttl=%zz", nil, []string{"ttl"}},
		{"POST", "/a?ttl=1;wait=2", nil, []string{"ttl"}},
		{"POST", "/a?ttl=abc&capacity=1.5", nil, []string{"ttl", "capacity"}},
		{"POST", "/a?name=" + strings.Repeat("x", 129) + "&reason=" + strings.Repeat("x", 257), nil, []string{"name", "reason"}},
		{"POST", "/a", []string{"Idempotency-Key", "has blank", "X-Pid", "x"}, []string{"X-Pid", "Idempotency-Key"}},
		{"POST", "/a", []string{"X-Name", "caf\xe9"}, []string{"X-Name"}},
		{"POST", "/a/xyz/renew?ttl=0", nil, []string{"ttl", "lease"}},
		{"DELETE", "/a/-", nil, []string{"X-Lease"}},
		{"DELETE", "/a/" + strings.Repeat("a", 32), []string{"X-Lease", strings.Repeat("b", 32)}, []string{"X-Lease"}},
		{"GET", "/a/" + strings.Repeat("A", 32), nil, []string{"lease"}},
		{"GET", "/a?x=1", nil, []string{"x"}},
		{"GET", "/a/history?limit=0&before=0", nil, []string{"limit", "before"}},
		{"GET", "/a/history?before=9007199254740992", nil, []string{"before"}},
		{"GET", "/-/history?prefix=a.b", admin, []string{"prefix"}},
		{"GET", "/-/topics?prefix=%C2%84&after=" + strings.Repeat("x", 65), admin, []string{"prefix", "after"}},
	}
	for _, c := range cases {
		a := s.call(t, c.method, c.path, c.headers...)
		if a.status != 400 || a.str("code") != "BAD_PARAM" {
			t.Errorf("%s %s: %d %s", c.method, c.path, a.status, a.text)
			continue
		}
		var named []string
		for _, p := range a.json["parameters"].([]any) {
			problem := p.(map[string]any)
			named = append(named, problem["name"].(string))
			if problem["expected"] == "" {
				t.Errorf("%s: nothing expected of %v", c.path, problem["name"])
			}
		}
		for _, want := range c.names {
			if !strings.Contains(" "+strings.Join(named, " ")+" ", " "+want+" ") {
				t.Errorf("%s %s names %v, not %s", c.method, c.path, named, want)
			}
		}
		if len(named) != len(c.names) {
			t.Errorf("%s %s names %v", c.method, c.path, named)
		}
	}
	if s.registry.Len() != 0 {
		t.Error("a refused request made a topic")
	}
}

func TestOddPathsAreBadTopicsAndNeverRedirects(t *testing.T) {
	s := start(t, nil)
	for _, path := range []string{
		"/a%2Fb", "//a", "/a//b", "/a/../b", "/./a", "/a/.", "/%00", "/a%00b", "/" + strings.Repeat("a", 65), "/caf%C3%A9",
		"/a.b", "/-", "/%2e%2e", "/a%20b",
	} {
		for _, method := range []string{"GET", "POST"} {
			if a := s.call(t, method, path); a.status != 400 || a.str("code") != "BAD_TOPIC" {
				t.Errorf("%s %s: %d %s", method, path, a.status, a.text)
			}
		}
	}
	for _, path := range []string{"/a/b/c", "/-/nothing", "/-/nothing/renew", "/a/", "/-/static/nothing/x"} {
		if a := s.call(t, "POST", path); a.status != 404 || a.str("code") != "NO_ROUTE" {
			t.Errorf("%s: %d %s", path, a.status, a.text)
		}
	}
	if lease, _ := s.acquire(t, "/deploy%3Astaging"); s.call(t, "GET", "/deploy:staging/"+lease).status != 200 {
		t.Error("an encoded colon is another topic")
	}
}

func TestMethods(t *testing.T) {
	s := start(t, nil)
	for path, want := range map[string]string{
		"/a": "GET, HEAD, POST, OPTIONS", "/a/-": "GET, HEAD, DELETE, OPTIONS", "/a/-/renew": "POST, OPTIONS",
		"/a/sse": "GET, HEAD, OPTIONS", "/": "GET, HEAD, OPTIONS", "/-/prune": "POST, OPTIONS",
		"/a/history": "GET, HEAD, OPTIONS", "/a/force-release": "POST, OPTIONS", "/llms.txt": "GET, HEAD, OPTIONS",
		"/README.md": "GET, HEAD, OPTIONS", "/openapi.yaml": "GET, HEAD, OPTIONS", "/openapi.json": "GET, HEAD, OPTIONS",
	} {
		for _, method := range []string{"GET", "POST", "DELETE"} {
			if a := s.headers(t, method, path); (a.StatusCode == 405) == strings.Contains(want, method) {
				t.Errorf("%s %s: %d, though it allows %s", method, path, a.StatusCode, want)
			}
		}
		if a := s.call(t, "PUT", path); a.status != 405 || a.header.Get("Allow") != want {
			t.Errorf("PUT %s: %d, Allow %q, want %q", path, a.status, a.header.Get("Allow"), want)
		}
		if a := s.call(t, "OPTIONS", path); a.status != 204 || a.header.Get("Allow") != want {
			t.Errorf("OPTIONS %s: %d, Allow %q", path, a.status, a.header.Get("Allow"))
		}
	}
	for _, path := range []string{"/", "/a", "/a/sse", "/llms.txt", "/README.md", "/openapi.yaml", "/openapi.json", "/-/healthy", "/-/ready"} {
		get, head := s.headers(t, "GET", path), s.headers(t, "HEAD", path)
		if head.StatusCode != get.StatusCode || head.Header.Get("Content-Type") != get.Header.Get("Content-Type") {
			t.Errorf("HEAD %s: %d %s, GET %d %s", path, head.StatusCode, head.Header.Get("Content-Type"), get.StatusCode, get.Header.Get("Content-Type"))
		}
	}
}

// headers asks and reads no further than the headers.
func (s *server) headers(t *testing.T, method, path string) *http.Response {
	t.Helper()
	r, err := http.NewRequest(method, s.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := noRedirects.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	return res
}

func TestNamesComeOutRight(t *testing.T) {
	s := start(t, nil)
	cases := []struct {
		body    string
		query   string
		headers []string
		want    string
	}{
		{"", "", nil, "anon-"},
		{"from the body", "", nil, "from the body"},
		{"body", "?name=query", nil, "query"},
		{"body", "?name=query", []string{"X-Name", "header"}, "header"},
		{"body", "?name=", []string{"X-Name", " "}, "body"},
		{"", "", []string{"X-Name", "Jörg"}, "Jörg"},
		{"", "", []string{"X-Name", "J%C3%B6rg"}, "Jörg"},
		{"", "", []string{"X-Name", "=?UTF-8?Q?J=C3=B6rg?="}, "Jörg"},
		{"", "?name=%F0%9F%A6%AB", nil, "🦫"},
		{"", "?name=a%1b%5B31mb%E2%80%AEc%0A", nil, "a[31mbc"},
		{"", "?name=%3Cimg%20src%3Dx%3E", nil, "<img src=x>"},
		{"", "", []string{"X-Name", "50%"}, "50%"},
	}
	for i, c := range cases {
		a := s.callBody(t, "POST", fmt.Sprint("/t", i, c.query), c.body, c.headers...)
		if got := a.str("name"); got != c.want && !(c.want == "anon-" && regexp.MustCompile(`^anon-[0-9a-f]{6}$`).MatchString(got)) {
			t.Errorf("%+v: %q (%d)", c, got, a.status)
		}
	}
	if a := s.callBody(t, "POST", "/big", strings.Repeat("x", 4097)); a.status != 413 || a.str("code") != "TOO_LARGE" {
		t.Errorf("a long body: %d %s", a.status, a.text)
	}
	if a := s.callBody(t, "POST", "/big", strings.Repeat("x", 4000)); a.status != 400 || a.str("code") != "BAD_PARAM" {
		t.Errorf("a long name: %d %s", a.status, a.text)
	}
}

func TestHeaders(t *testing.T) {
	s := start(t, nil)
	a := s.call(t, "POST", "/a", "X-Request-Id", "abc-1")
	if a.header.Get("X-Request-Id") != "abc-1" || a.header.Get("Cache-Control") != "no-store" || a.header.Get("Server-Timing") == "" {
		t.Errorf("%v", a.header)
	}
	if a.header.Get("Access-Control-Allow-Origin") != "" {
		t.Error("open to every origin")
	}
}

func TestNegotiation(t *testing.T) {
	s := start(t, nil)
	for _, c := range []struct{ path, accept, want string }{
		{"/a", "", "application/json"},
		{"/a", "*/*", "application/json"},
		{"/a", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "text/html; charset=utf-8"},
		{"/a", "application/json, text/html;q=0.5", "application/json"},
		{"/a", "text/html;q=0.2, application/json;q=0.1", "text/html; charset=utf-8"},
		{"/", "*/*", "text/plain; charset=utf-8"},
		{"/", "text/html", "text/html; charset=utf-8"},
		{"/", "text/markdown", "text/markdown; charset=utf-8"},
	} {
		a := s.call(t, "GET", c.path, "Accept", c.accept)
		if a.status != 200 || a.header.Get("Content-Type") != c.want || !strings.Contains(a.header.Get("Vary"), "Accept") {
			t.Errorf("%s as %q: %d %s, Vary %s", c.path, c.accept, a.status, a.header.Get("Content-Type"), a.header.Get("Vary"))
		}
	}
}

func TestBrowsersOfOtherOrigins(t *testing.T) {
	s := start(t, func(o *httpserver.Options, _ *registry.Options, _ *policy.Options) {
		o.CheckHost = true
		o.AllowedHosts = []string{"mutex.test"}
		o.CORSOrigins = []string{"https://friend.test"}
	})
	if a := s.call(t, "POST", "/a", "Origin", "https://evil.test", "Sec-Fetch-Site", "cross-site"); a.status != 403 || a.str("code") != "CROSS_ORIGIN" {
		t.Errorf("a foreign page: %d %s", a.status, a.text)
	}
	if a := s.call(t, "GET", "/a", "Origin", "https://evil.test"); a.header.Get("Access-Control-Allow-Origin") != "" {
		t.Error("a foreign page may read")
	}
	if a := s.call(t, "POST", "/a", "Origin", "https://friend.test", "Sec-Fetch-Site", "cross-site"); a.status != 200 || a.header.Get("Access-Control-Allow-Origin") != "https://friend.test" {
		t.Errorf("an allowed page: %d %v", a.status, a.header)
	}
	preflight := s.call(t, "OPTIONS", "/a", "Origin", "https://friend.test", "Access-Control-Request-Method", "POST")
	if preflight.status != 204 || !strings.Contains(preflight.header.Get("Access-Control-Allow-Headers"), "Idempotency-Key") {
		t.Errorf("preflight: %d %v", preflight.status, preflight.header)
	}
	for host, want := range map[string]int{
		"evil.test": 421, "localhost:1": 200, "127.0.0.1": 200, "[::1]:80": 200, "mutex.test": 200, "MUTEX.test:9": 200, "127.0.0.1.evil.test": 421,
	} {
		if a := s.call(t, "GET", "/a", "Host", host); a.status != want {
			t.Errorf("Host %s: %d", host, a.status)
		}
	}
}

// TestHostsThatWouldBreakTheAnswerAreRefused sends a whole URL for a target, whose host nobody has looked at.
func TestHostsThatWouldBreakTheAnswerAreRefused(t *testing.T) {
	s := start(t, nil)
	for _, host := range []string{`a"b`, "<a>", "\xff", "\u00e9"} {
		c := s.dial(t, "POST http://"+host+"/a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
		b, err := io.ReadAll(c)
		if err != nil || !strings.HasPrefix(string(b), "HTTP/1.1 421 ") {
			t.Errorf("%q: %v %s", host, err, b)
		}
	}
}

// TestMisplacedSecretsAreNotSentBack puts a lease where many would look for its place.
func TestMisplacedSecretsAreNotSentBack(t *testing.T) {
	s := start(t, nil)
	lease, _ := s.acquire(t, "/a")
	for _, path := range []string{"/a?lease=" + lease, "/a/-/renew?lease=" + lease, "/a/" + lease + "/renew?token=" + lease,
		"/a?ttl=" + lease, "/a?pid=" + strings.ToUpper(lease), "/a?" + lease, "/a?access_token=" + lease} {
		if a := s.call(t, "POST", path); a.status != 400 || strings.Contains(a.text, lease) {
			t.Errorf("POST %s: %d %s", path, a.status, a.text)
		}
	}
}
