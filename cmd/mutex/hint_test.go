package main

import (
	"crypto/tls"
	"errors"
	"strings"
	"testing"

	"legible.sh/mutex/internal/locker"
)

// TestHintOfAnUntrustedCertificate: the server runs, so nobody is told to start one.
func TestHintOfAnUntrustedCertificate(t *testing.T) {
	err := &locker.UnreachableError{Where: "https://box", Err: &tls.CertificateVerificationError{Err: errors.New("unknown authority")}}
	if hint := new(target).hint(err); !strings.Contains(hint, "SSL_CERT_FILE") || strings.Contains(hint, "mutex serve") {
		t.Error(hint)
	}
}
