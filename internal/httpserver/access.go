package httpserver

import (
	"net/http"
	"strings"

	"legible.sh/mutex/internal/lease"
	"legible.sh/mutex/internal/policy"
)

// enter parses the topic and asks whether the bearer of the request may do this to it, and how far.
func (s *Server) enter(r *http.Request, topic string, right policy.Right) (lease.Topic, policy.Limits, error) {
	name, err := lease.ParseTopic(topic)
	if err != nil {
		return "", policy.Limits{}, err
	}
	limits, err := s.options.Policy.Decide(name, right, bearer(r))
	return name, limits, err
}

// admin asks for the admin token.
func (s *Server) admin(r *http.Request) error {
	return s.options.Policy.Admin(bearer(r))
}

// bearer gives the request's token, or "".
func bearer(r *http.Request) string {
	h := r.Header["Authorization"]
	if len(h) == 0 {
		return ""
	}
	scheme, token, _ := strings.Cut(h[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}
