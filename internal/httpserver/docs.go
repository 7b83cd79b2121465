package httpserver

import (
	"bytes"
	"net/http"
	"strings"

	mutex "legible.sh/mutex"
	"legible.sh/mutex/internal/lease"
	"legible.sh/mutex/internal/web"
)

// GetHelp answers at the root: help in text, a page for a browser, the README for who reads markdown.
func (s *Server) GetHelp(w http.ResponseWriter, r *http.Request) {
	w.Header()["Vary"] = varyAccept
	switch preferred(r.Header["Accept"], typeText, typeHTML, typeMarkdown) {
	case typeHTML:
		s.page(w, r, func(b *bytes.Buffer) error { return s.options.Pages.Home(b, s.base(r)) })
	case typeMarkdown:
		s.GetReadme(w, r)
	default:
		s.text(w, typeText, []byte(strings.ReplaceAll(mutex.Help, "{{url}}", s.base(r))))
	}
}

// GetReadme serves the README.
func (s *Server) GetReadme(w http.ResponseWriter, _ *http.Request) {
	s.text(w, typeMarkdown, mutex.Readme)
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
	s.page(w, r, func(b *bytes.Buffer) error {
		return s.options.Pages.Topic(b, s.base(r), apiStatus(topic, &answer.Status))
	})
}

// page sends what was rendered, or an error and nothing of it.
func (s *Server) page(w http.ResponseWriter, r *http.Request, render func(*bytes.Buffer) error) {
	var b bytes.Buffer
	if err := render(&b); err != nil {
		s.fail(w, r, err)
		return
	}
	web.Headers(w.Header())
	_, _ = w.Write(b.Bytes()) // a reader who hangs up needs no answer
}

var static = http.StripPrefix("/-/", web.Static())

func (s *Server) static(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "public, max-age=300")
	static.ServeHTTP(w, r)
}

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
func (s *Server) GetDocs(w http.ResponseWriter, r *http.Request) { s.optional(w, r, nil) }

// GetDashboard shows all topics on one page.
func (s *Server) GetDashboard(w http.ResponseWriter, r *http.Request) { s.optional(w, r, nil) }
