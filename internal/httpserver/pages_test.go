package httpserver_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"legible.sh/mutex/api"
	"legible.sh/mutex/internal/httpserver"
	"legible.sh/mutex/internal/policy"
	"legible.sh/mutex/internal/web"
	"legible.sh/mutex/registry"
)

// browser is what a browser sends along with its request for a page.
func browser(more ...string) []string {
	return append([]string{"Accept", "text/html,application/xhtml+xml,*/*;q=0.8"}, more...)
}

// submit sends a form as a browser does.
func (s *server) submit(t *testing.T, path, token string, more ...string) answer {
	t.Helper()
	form := url.Values{"token": {token}}.Encode()
	return s.form(t, path, form, browser(append(more, "Content-Type", "application/x-www-form-urlencoded", "Origin", s.URL)...)...)
}

// form posts a form's text, and gives an answer that need be nothing the document describes.
func (s *server) form(t *testing.T, path, body string, headers ...string) answer {
	t.Helper()
	return s.fetch(t, http.MethodPost, path, body, headers...)
}

// look gets a page.
func (s *server) look(t *testing.T, path string, headers ...string) answer {
	t.Helper()
	return s.fetch(t, http.MethodGet, path, "", headers...)
}

func (s *server) fetch(t *testing.T, method, path, body string, headers ...string) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
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
	return answer{status: res.StatusCode, header: res.Header, text: string(b)}
}

// session signs in and gives the cookie.
func (s *server) session(t *testing.T) *http.Cookie {
	t.Helper()
	a := s.submit(t, "/-/sign-in", adminToken)
	cookie, err := http.ParseSetCookie(a.header.Get("Set-Cookie"))
	if a.status != http.StatusSeeOther || a.header.Get("Location") != "dashboard" || err != nil {
		t.Fatalf("sign-in: %d %v (%v)", a.status, a.header, err)
	}
	return cookie
}

func TestASessionStandsForTheAdminToken(t *testing.T) {
	s := start(t, nil)
	s.acquire(t, "/deploy:staging?name=worker-3")
	cookie := s.session(t)
	port := s.URL[strings.LastIndexByte(s.URL, ':')+1:]
	if cookie.Name != "mutex-session-"+port || cookie.Path != "/-/" || !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || cookie.Secure {
		t.Errorf("cookie %+v", cookie)
	}
	if strings.Contains(cookie.Value, adminToken) || len(cookie.Value) != 64 {
		t.Errorf("its value is %q", cookie.Value)
	}
	in := browser("Cookie", cookie.Name+"="+cookie.Value)
	if a := s.look(t, "/-/dashboard", in...); a.status != 200 || !strings.Contains(a.text, "worker-3") || a.header.Get("Content-Security-Policy") == "" {
		t.Errorf("dashboard: %d %s", a.status, a.text)
	}
	// It opens pages, and nothing that changes or lists anything for programs.
	for _, call := range [][2]string{{"GET", "/-/topics"}, {"GET", "/-/history"}, {"POST", "/-/prune"}, {"POST", "/deploy:staging/force-release"}} {
		if a := s.call(t, call[0], call[1], "Cookie", cookie.Name+"="+cookie.Value); a.status != 401 {
			t.Errorf("%s %s with a session: %d %s", call[0], call[1], a.status, a.text)
		}
	}
	if a := s.form(t, "/-/sign-out", "", in...); a.status != http.StatusSeeOther || !strings.Contains(a.header.Get("Set-Cookie"), "Max-Age=0") {
		t.Errorf("sign-out: %d %v", a.status, a.header)
	}
	if a := s.look(t, "/-/dashboard", in...); a.status != 401 {
		t.Errorf("after sign-out: %d", a.status)
	}
	if text := s.log.String(); strings.Contains(text, adminToken) || strings.Contains(text, cookie.Value) {
		t.Error("the log has a secret")
	}
}

func TestDashboardAsksWhoYouAre(t *testing.T) {
	s := start(t, nil)
	if a := s.look(t, "/-/dashboard", browser()...); a.status != 401 || !strings.Contains(a.text, `name="token"`) || a.header.Get("WWW-Authenticate") != "Bearer" {
		t.Errorf("a browser: %d %v %s", a.status, a.header, a.text)
	}
	if a := s.submit(t, "/-/sign-in", "wrong"); a.status != 401 || !strings.Contains(a.text, "not the admin token") || a.header.Get("Set-Cookie") != "" || strings.Contains(a.text, "wrong") {
		t.Errorf("a wrong token: %d %v %s", a.status, a.header, a.text)
	}
	if a := s.look(t, "/-/dashboard", browser("Cookie", "mutex-session="+strings.Repeat("0", 64))...); a.status != 401 {
		t.Errorf("a made-up session: %d", a.status)
	}
	if a := s.call(t, "GET", "/-/dashboard"); a.status != 401 || a.str("code") != "UNAUTHORIZED" {
		t.Errorf("a program: %d %s", a.status, a.text)
	}
	if a := s.call(t, "GET", "/-/dashboard", "Authorization", "Bearer "+adminToken); a.status != 200 {
		t.Errorf("with the token: %d %s", a.status, a.text)
	}
	if a := s.look(t, "/-/sign-in"); a.status != http.StatusSeeOther {
		t.Errorf("back at the form's address: %d", a.status)
	}
}

func TestDashboardOfAServerWithoutAdmin(t *testing.T) {
	s := start(t, func(_ *httpserver.Options, _ *registry.Options, p *policy.Options) { p.AdminToken = "" })
	a := s.look(t, "/-/dashboard", browser()...)
	if a.status != 403 || !strings.Contains(a.text, "MUTEX_ADMIN_TOKEN") || strings.Contains(a.text, "<form class=\"signin\"") {
		t.Errorf("a browser: %d %s", a.status, a.text)
	}
	if a := s.submit(t, "/-/sign-in", ""); a.status != 403 || a.header.Get("Set-Cookie") != "" {
		t.Errorf("an empty token: %d %v", a.status, a.header)
	}
	if a := s.call(t, "GET", "/-/dashboard"); a.status != 403 || a.str("code") != "FORBIDDEN" {
		t.Errorf("a program: %d %s", a.status, a.text)
	}
}

func TestNoOtherOriginSignsABrowserInOrOut(t *testing.T) {
	s := start(t, func(o *httpserver.Options, _ *registry.Options, _ *policy.Options) { o.CORSOrigins = []string{"*"} })
	form := url.Values{"token": {adminToken}}.Encode()
	for _, headers := range [][]string{{"Origin", "https://evil.test"}, {"Sec-Fetch-Site", "cross-site"}, {"Origin", "null"}} {
		for _, path := range []string{"/-/sign-in", "/-/sign-out"} {
			if a := s.form(t, path, form, headers...); a.status != 403 || a.header.Get("Set-Cookie") != "" {
				t.Errorf("%s, %v: %d %v", path, headers, a.status, a.header)
			}
		}
	}
}

func TestCookieBehindAProxy(t *testing.T) {
	base, _ := url.Parse("https://ci.test/mutex")
	s := start(t, func(o *httpserver.Options, _ *registry.Options, _ *policy.Options) { o.BaseURL = base })
	if c := s.session(t); !c.Secure || c.Path != "/mutex/-/" {
		t.Errorf("cookie %+v", c)
	}
}

// past is a history that a test can break.
type past struct{ err error }

func (p past) Overview(_ context.Context, since time.Time) (*web.Past, error) {
	return &web.Past{Since: since, Until: time.Now()}, p.err
}

func (p past) Events(_ context.Context, q httpserver.HistoryQuery) ([]api.HistoryEvent, error) {
	return []api.HistoryEvent{{Event: api.HistoryEventKindExpired, Name: "of " + q.Topic}}, p.err
}

func TestPagesTellThePast(t *testing.T) {
	p := past{}
	s := start(t, func(o *httpserver.Options, _ *registry.Options, _ *policy.Options) { o.History, o.Overviews = p, p })
	admin := browser("Authorization", "Bearer "+adminToken)
	if a := s.look(t, "/-/dashboard", admin...); !strings.Contains(a.text, "No grants.") {
		t.Errorf("dashboard: %d %s", a.status, a.text)
	}
	if a := s.look(t, "/some", browser()...); !strings.Contains(a.text, "of some") {
		t.Errorf("topic: %s", a.text)
	}
}

func TestPagesWithoutAPast(t *testing.T) {
	broken := &past{err: fmt.Errorf("%w: gone", httpserver.ErrHistory)}
	slow := &past{err: fmt.Errorf("%w: %w", httpserver.ErrHistory, context.DeadlineExceeded)}
	for want, p := range map[string]*past{"cannot be read now": broken, "Choose a shorter span": slow, "keeps no history": nil} {
		s := start(t, func(o *httpserver.Options, _ *registry.Options, _ *policy.Options) {
			if p != nil {
				o.History, o.Overviews = p, p
			}
		})
		a := s.look(t, "/-/dashboard", browser("Authorization", "Bearer "+adminToken)...)
		if a.status != 200 || !strings.Contains(a.text, want) {
			t.Errorf("dashboard, %s: %d %s", want, a.status, a.text)
		}
		if a := s.look(t, "/some", browser()...); a.status != 200 || p != nil && !strings.Contains(a.text, "cannot be read now") {
			t.Errorf("topic, %s: %d %s", want, a.status, a.text)
		}
	}
}

func TestReferenceAndStaticFiles(t *testing.T) {
	s := start(t, nil)
	if a := s.look(t, "/-/docs"); a.status != 200 || !strings.Contains(a.text, "API reference") || a.header.Get("ETag") == "" {
		t.Errorf("reference: %d %v", a.status, a.header)
	}
	if a := s.look(t, "/-/static/style.css"); a.status != 200 || !strings.HasPrefix(a.header.Get("Content-Type"), "text/css") {
		t.Errorf("stylesheet: %d %v", a.status, a.header)
	}
}
