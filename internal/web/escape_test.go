package web_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"legible.sh/mutex/api"
	"legible.sh/mutex/internal/web"
)

const hostile = `"><img src=x onerror=alert(1)><script>alert(2)</script>{{.}}'` + "`"

// everyPage gives each page with a stranger's text wherever one can stand.
func everyPage(t *testing.T) map[string]string {
	t.Helper()
	v := held(time.Minute, 0)
	h := &v.Status.Holders[0]
	h.Name, h.Reason, h.Host = hostile, hostile, hostile
	v.Status.Waiters = []api.Waiter{{Name: hostile, Reason: hostile, EnqueuedAt: at(time.Hour), Position: 1}}
	hold := 1.0
	event := api.HistoryEvent{Event: api.HistoryEventKindForceReleased, Name: hostile, Reason: hostile, Host: hostile, By: hostile, Topic: "a", Time: at(0), Held: &hold, Waited: &hold}
	v.Events, v.Note = []api.HistoryEvent{event}, ""
	queued := at(time.Hour)
	row := web.Row{TopicSummary: api.TopicSummary{Topic: "a", State: api.TopicStateHeld, Holders: v.Status.Holders, Waiting: 1}, Queued: &queued}
	past := &web.Past{Since: at(time.Hour).Time, Until: noon, LongestHolds: []api.HistoryEvent{event}, LongestWaits: []api.HistoryEvent{event}}
	return map[string]string{
		"home":  render(t, func(b *bytes.Buffer) error { return pages.Home(b, "http://"+hostile) }),
		"topic": topic(t, v),
		"dashboard": render(t, func(b *bytes.Buffer) error {
			return pages.Dashboard(b, web.Dashboard{Now: noon, Topics: []web.Row{row}, Choice: web.Choice{Page: 1, Sort: "topic", Span: time.Hour}, Past: past})
		}),
		"filtered": render(t, func(b *bytes.Buffer) error {
			return pages.Dashboard(b, web.Dashboard{Now: noon, Topics: []web.Row{row}, Choice: web.Choice{Filter: hostile, Page: 1, Sort: "topic", Span: time.Hour}, Note: hostile})
		}),
		"sign-in": render(t, func(b *bytes.Buffer) error { return pages.SignIn(b, web.SignIn{Problem: hostile}) }),
		"closed": render(t, func(b *bytes.Buffer) error {
			return pages.SignIn(b, web.SignIn{Problem: hostile, Hint: hostile, Closed: true})
		}),
		"reference": reference(t, nil).Body.String(),
	}
}

func reference(t *testing.T, header http.Header) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "/-/docs", nil)
	for name, values := range header {
		r.Header[name] = values
	}
	w := httptest.NewRecorder()
	pages.Reference(w, r)
	return w
}

// foreign tells what a strict page must not have: inline script, style or handlers, and anything of another origin.
func foreign(token html.Token) string {
	switch token.Data {
	case "img", "iframe", "object", "style", "base":
		return token.String()
	case "script":
		if len(token.Attr) == 0 || token.Attr[len(token.Attr)-1].Key != "src" {
			return token.String()
		}
	}
	for _, a := range token.Attr {
		link := a.Key == "href" || a.Key == "src" || a.Key == "action"
		if a.Key == "style" || strings.HasPrefix(a.Key, "on") || link && !ours.MatchString(a.Val) {
			return token.String()
		}
	}
	return ""
}

// ours is a link that stays on the server.
var ours = regexp.MustCompile(`^(\.\.?/|#|dashboard\b|sign-(in|out)$)`)

func TestNothingThatAStrangerWroteIsMarkup(t *testing.T) {
	for name, page := range everyPage(t) {
		if name != "reference" && !strings.Contains(page, "&lt;script&gt;") {
			t.Errorf("%s does not show the text at all", name)
		}
		for z := html.NewTokenizer(strings.NewReader(page)); z.Next() != html.ErrorToken; {
			token := z.Token()
			if token.Type != html.StartTagToken && token.Type != html.SelfClosingTagToken {
				continue
			}
			if found := foreign(token); found != "" {
				t.Errorf("%s has %s", name, found)
			}
		}
	}
}

func TestEveryPageHasWhatReadersNeed(t *testing.T) {
	for name, page := range everyPage(t) {
		for _, want := range []string{`<html lang="en">`, `name="viewport"`, `<a class="skip" href="#main">`, `<main id="main"`, "</html>"} {
			if !strings.Contains(page, want) {
				t.Errorf("%s lacks %s", name, want)
			}
		}
		if n := strings.Count(page, "<h1"); n != 1 {
			t.Errorf("%s has %d main headings", name, n)
		}
	}
}

func TestHeadersForbidWhatPagesDoNotNeed(t *testing.T) {
	h := http.Header{}
	web.Headers(h)
	csp := h.Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"} {
		if !strings.Contains(csp, want) {
			t.Errorf("%q lacks %s", csp, want)
		}
	}
	if strings.Contains(csp, "unsafe") || strings.Contains(csp, "http") || h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Cache-Control") != "no-store" {
		t.Errorf("%v", h)
	}
}

func TestStaticFilesMayBeKeptForTheirContent(t *testing.T) {
	page := everyPage(t)["topic"]
	assets := regexp.MustCompile(`(?:src|href|data-icon)="\./-(/static/[^"]+)"`).FindAllStringSubmatch(page, -1)
	if len(assets) < 4 {
		t.Fatalf("found %v", assets)
	}
	get := func(path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		web.Static().ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		return w
	}
	for _, a := range assets {
		w := get(a[1])
		if w.Code != http.StatusOK || !strings.Contains(w.Header().Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %d %v", a[1], w.Code, w.Header())
		}
	}
	if w := get("/static/style.css?v=000000000000"); w.Header().Get("Cache-Control") != "no-cache" {
		t.Errorf("another version may be kept: %v", w.Header())
	}
	if w := get("/static/nothing.js"); w.Code != http.StatusNotFound {
		t.Errorf("a file that is not there: %d", w.Code)
	}
}
