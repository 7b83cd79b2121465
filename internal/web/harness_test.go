package web_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"legible.sh/mutex/api"
	"legible.sh/mutex/internal/web"
)

var (
	pages = web.New()
	noon  = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
)

// at is a moment so long before noon.
func at(before time.Duration) api.Time { return api.Time{Time: noon.Add(-before)} }

// render renders a page. html/template puts ZgotmplZ where it takes a URL for a trick.
func render(t testing.TB, page func(*bytes.Buffer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := page(&b); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "ZgotmplZ") {
		t.Errorf("a link leads nowhere:\n%s", &b)
	}
	return b.String()
}

var (
	tags  = regexp.MustCompile(`(?s)<[^>]*>`)
	space = regexp.MustCompile(`\s+`)
)

// words is what a page says, without its markup.
func words(page string) string {
	_, main, _ := strings.Cut(page, "<main")
	_, main, _ = strings.Cut(main, ">")
	text := tags.ReplaceAllString(main, " ")
	return strings.TrimSpace(space.ReplaceAllString(strings.ReplaceAll(text, "\u00a0", " "), " "))
}

func says(t *testing.T, page string, want ...string) {
	t.Helper()
	for _, w := range want {
		if text := words(page); !strings.Contains(text, w) {
			t.Errorf("the page does not say %q:\n%s", w, text)
		}
	}
}

func saysNot(t *testing.T, page string, not ...string) {
	t.Helper()
	for _, w := range not {
		if text := words(page); strings.Contains(text, w) {
			t.Errorf("the page says %q:\n%s", w, text)
		}
	}
}
