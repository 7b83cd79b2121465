package locker

import "fmt"

// Token is a lease's secret, as text. Who has it may renew and release. It prints as a placeholder, so that no
// error, log line or %v gives it away; [Token.Reveal] is the one way out.
type Token string

// Reveal gives the secret: for its owner's output, its owner's file, and the service.
func (t Token) Reveal() string { return string(t) }

// String hides the secret.
func (Token) String() string { return "lease(hidden)" }

// GoString hides the secret from %#v.
func (Token) GoString() string { return "locker.Token(hidden)" }

// Format hides the secret from every other verb.
func (t Token) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(t.String())) }

// MarshalText hides the secret from encoders that were not meant to have it.
func (t Token) MarshalText() ([]byte, error) { return []byte(t.String()), nil }
