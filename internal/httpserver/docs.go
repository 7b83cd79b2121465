package httpserver

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"time"

	mutex "legible.sh/mutex"
	"legible.sh/mutex/api"
	"legible.sh/mutex/internal/lease"
	"legible.sh/mutex/internal/web"
)

// GetHelp answers at the root: help in text, a page for a browser, the README for who reads markdown.
func (s *Server) GetHelp(w http.ResponseWriter, r *http.Request) {
	varies(w.Header())
	switch preferred(r.Header["Accept"], typeText, typeHTML, typeMarkdown) {
	case typeHTML:
		s.page(w, r, func(b *buffer) error { return s.options.Pages.Home(b, s.base(r)) })
	case typeMarkdown:
		s.GetReadme(w, r)
	default:
		s.text(w, typeText, []byte(strings.ReplaceAll(mutex.Help, "{{url}}", s.base(r))))
	}
}

// GetReadme serves the README.
func (s *Server) GetReadme(w http.ResponseWriter, _ *http.Request) {
	s.text(w, typeMarkdown, s.readme)
}

// GetLlms serves the map for language models.
func (s *Server) GetLlms(w http.ResponseWriter, _ *http.Request) {
	s.text(w, typeText, mutex.Llms)
}

// GetSpecYaml serves the contract.
func (s *Server) GetSpecYaml(w http.ResponseWriter, _ *http.Request) {
	s.text(w, "application/yaml", mutex.SpecYAML)
}

// GetSpecJSON serves the contract as JSON.
func (s *Server) GetSpecJSON(w http.ResponseWriter, _ *http.Request) {
	s.text(w, typeJSON, mutex.SpecJSON)
}

func (s *Server) text(w http.ResponseWriter, kind string, body []byte) {
	if strings.HasPrefix(kind, "text/") {
		kind += "; charset=utf-8"
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(body) // a reader who hangs up needs no answer
}

func (s *Server) topicPage(w http.ResponseWriter, r *http.Request, topic lease.Topic) {
	answer, err := s.look(r, topic)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	t := web.Topic{Base: s.base(r), Now: time.Now(), Status: apiStatus(topic, &answer.Status)}
	t.Events, t.Note = s.recent(r.Context(), topic)
	s.page(w, r, func(b *buffer) error { return s.options.Pages.Topic(b, t) })
}

// recentEvents is how many a topic's page shows.
const recentEvents = 50

// recent gives what happened on a topic lately, or why that cannot be told.
func (s *Server) recent(ctx context.Context, topic lease.Topic) ([]api.HistoryEvent, string) {
	if s.options.History == nil {
		return nil, noteOff
	}
	events, err := s.options.History.Events(ctx, HistoryQuery{Topic: string(topic), Limit: recentEvents})
	if err != nil {
		return nil, noteFail
	}
	return events, ""
}

// buffer is what a page is rendered into.
type buffer = bytes.Buffer

// page sends what was rendered, or an error and nothing of it.
func (s *Server) page(w http.ResponseWriter, r *http.Request, render func(*buffer) error) {
	s.pageWith(w, r, http.StatusOK, render)
}

func (s *Server) pageWith(w http.ResponseWriter, r *http.Request, status int, render func(*buffer) error) {
	var b buffer
	if err := render(&b); err != nil {
		s.fail(w, r, err)
		return
	}
	web.Headers(w.Header())
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // a reader who hangs up needs no answer
}

var static = http.StripPrefix("/-/", web.Static())

// base is this server's URL as its clients know it, without a slash at the end.
func (s *Server) base(r *http.Request) string { return string(s.appendBase(nil, r)) }

func (s *Server) appendBase(b []byte, r *http.Request) []byte {
	if u := s.options.BaseURL; u != nil {
		return append(b, strings.TrimSuffix(u.String(), "/")...)
	}
	if r.TLS != nil {
		b = append(b, "https://"...)
	} else {
		b = append(b, "http://"...)
	}
	return append(b, r.Host...)
}

// GetDocs shows the contract as a page.
func (s *Server) GetDocs(w http.ResponseWriter, r *http.Request) { s.options.Pages.Reference(w, r) }

// mountPages adds the paths that only browsers use: they are no part of the contract.
func (s *Server) mountPages() {
	s.mux.Handle("GET /-/static/{file}", static)
	s.mux.HandleFunc("GET /-/sign-in", s.toDashboard)
	s.mux.HandleFunc("POST /-/sign-in", s.signIn)
	s.mux.HandleFunc("POST /-/sign-out", s.signOut)
}
