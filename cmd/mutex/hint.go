package main

import (
	"crypto/tls"
	"errors"
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
	switch {
	case errors.Is(err, locker.ErrGone):
		return "stop the work at once: another may hold the topic. To go on, acquire again and start over under the new fence"
	case errors.Is(err, syscall.EADDRINUSE):
		return "another program listens there, perhaps this server already; --port takes another port, 0 a free one"
	case errors.Is(err, locker.ErrNotPermitted) && errors.Is(t.noAdminToken, policy.ErrNotPrivate):
		return "the admin's token was found but is not used: " + t.noAdminToken.Error()
	case errors.As(err, &no) && no.Code == api.ErrorCodeUnauthorized:
		return "give a token in MUTEX_TOKEN or --token-file; list, prune, force-release and the history of all take the admin's, in MUTEX_ADMIN_TOKEN"
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
