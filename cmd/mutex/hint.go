package main

import (
	"crypto/tls"
	"errors"
	"net/url"
	"slices"
	"strings"
	"syscall"

	"legible.sh/mutex/api"
	"legible.sh/mutex/api/client"
	"legible.sh/mutex/internal/locker"
	"legible.sh/mutex/internal/policy"
)

// hint says what to do about an error whose own text does not.
func (t *target) hint(err error) string {
	var silent *locker.UnreachableError
	var untrusted *tls.CertificateVerificationError
	var no *client.Error
	errors.As(err, &no)
	switch {
	case errors.Is(err, locker.ErrGone):
		return "stop the work at once: another may hold the topic. To go on, acquire again and start over under the new fence"
	case errors.Is(err, syscall.EADDRINUSE):
		return "another program listens there, perhaps this server already; --port takes another port, 0 a free one"
	case errors.Is(err, locker.ErrNotPermitted) && errors.Is(t.noAdminToken, policy.ErrNotPrivate):
		return "the admin's token was found but is not used: " + t.noAdminToken.Error()
	case no != nil && no.Code == api.ErrorCodeUnauthorized:
		return "give a token in MUTEX_TOKEN or --token-file; list, prune, force-release and the history of all take the admin's, in MUTEX_ADMIN_TOKEN"
	case no != nil && misrouted(no):
		return t.pathHint()
	case !errors.As(err, &silent), silent.Answered:
		return ""
	}
	if errors.As(err, &untrusted) {
		return "the server's certificate is not trusted here: name the file of its authority in SSL_CERT_FILE, and use a name that the certificate has"
	}
	if strings.HasPrefix(silent.Where, "unix:") {
		return "is it running? Start one with: mutex serve --listen " + strings.Replace(silent.Where, "unix://", "unix:", 1)
	}
	if silent.Where == defaultURL {
		return "start a server of your own with: mutex serve, and use it with: export MUTEX_URL=http://127.0.0.1:4185"
	}
	return "is it running, and is that its URL? Start one with: mutex serve; say where it is with --url or MUTEX_URL"
}

// misrouted tells whether a server did not make sense of the path of a request. The commands send none that it would not
// know, so something stood before it.
func misrouted(no *client.Error) bool {
	switch no.Code {
	case api.ErrorCodeNoRoute, api.ErrorCodeMethodNotAllowed, api.ErrorCodeBadTopic:
		return true
	}
	return slices.ContainsFunc(no.Parameters, func(p api.ParameterProblem) bool { return p.In == api.ParameterInPath })
}

// pathHint doubts the path of the server's URL, if it has one.
func (t *target) pathHint() string {
	u, err := url.Parse(t.used)
	if err != nil || u.Scheme == "unix" || strings.Trim(u.Path, "/") == "" {
		return ""
	}
	return "the URL has a path, " + u.EscapedPath() + ": the server's has none, unless a proxy serves it below one. Without: --url " + u.Scheme + "://" + u.Host
}
