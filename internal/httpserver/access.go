package httpserver

import (
	"errors"
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
	if right == policy.Force {
		err = namingAdmin(err)
	}
	return name, limits, err
}

// admin asks for the admin token.
func (s *Server) admin(r *http.Request) error {
	return namingAdmin(s.options.Policy.Admin(bearer(r)))
}

// namingAdmin makes a refusal say that no other token than the admin's is wanted.
func namingAdmin(err error) error {
	if errors.Is(err, policy.ErrUnauthorized) {
		return errNotAdmin
	}
	return err
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
