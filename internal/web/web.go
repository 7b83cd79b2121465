// Package web renders the pages that people look at: html/template over a few embedded templates, one stylesheet and
// one script, no build step, no external asset. Every page reads without script; the script only keeps it current.
//
// It owns no state and no goroutine; [Pages] is safe for concurrent use. Callers hand it the wire's own types, so a
// page can show nothing that the API does not tell, and no lease can reach it. Everything is escaped by html/template,
// and the strict content security policy that [Headers] sets forbids inline script and any foreign origin.
package web

import (
	"embed"
	"html/template"
	"io"
	"net/http"
	"time"

	"legible.sh/mutex/api"
)

//go:embed templates static
var files embed.FS

// Pages renders pages. The zero value is not ready; use [New].
type Pages struct{ templates *template.Template }

// New parses the templates. It fails only on a program that was built wrong.
func New() *Pages {
	funcs := template.FuncMap{"clock": clock, "rfc3339": rfc3339}
	return &Pages{template.Must(template.New("").Funcs(funcs).ParseFS(files, "templates/*.html"))}
}

func clock(t api.Time) string   { return t.UTC().Format(time.TimeOnly) + " UTC" }
func rfc3339(t api.Time) string { return string(api.AppendTime(nil, t.Time)) }

// Headers sets what every page needs.
func Headers(h http.Header) {
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy",
		"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
}

// Home is the front page; base is this server's URL.
func (p *Pages) Home(w io.Writer, base string) error {
	return p.templates.ExecuteTemplate(w, "home.html", struct{ Base string }{base})
}

// Topic is one topic's page.
func (p *Pages) Topic(w io.Writer, base string, status api.TopicStatus) error {
	return p.templates.ExecuteTemplate(w, "topic.html", struct {
		Base   string
		Status api.TopicStatus
	}{base, status})
}

// Static serves the stylesheet and the script.
func Static() http.Handler { return http.FileServerFS(files) }
