package lease

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// Token is a lease: its holder's secret, 128 random bits. Who has it may renew and release.
// It prints as a placeholder, so that no log line, error or %v can give it away; [Token.Reveal] is the one way out.
type Token [16]byte

// ParseToken reads 32 lower-case hex digits.
func ParseToken(s string) (Token, error) {
	var t Token
	if len(s) != 2*len(t) {
		return Token{}, ErrBadToken
	}
	for i := range t {
		hi, lo := unhex(s[2*i]), unhex(s[2*i+1])
		if hi > 15 || lo > 15 {
			return Token{}, ErrBadToken
		}
		t[i] = hi<<4 | lo
	}
	return t, nil
}

// unhex gives a lower-case hex digit's value, and more than 15 for anything else.
func unhex(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	}
	return 0xff
}

// Reveal gives the secret as 32 lower-case hex digits: for its owner's grant and the journal, nowhere else.
func (t Token) Reveal() string { return hex.EncodeToString(t[:]) }

// AppendReveal is [Token.Reveal] without an allocation of its own.
func (t Token) AppendReveal(b []byte) []byte { return hex.AppendEncode(b, t[:]) }

// IsZero tells whether there is no lease here.
func (t Token) IsZero() bool { return t == Token{} }

// String hides the secret.
func (Token) String() string { return "lease(hidden)" }

// Format hides the secret from every verb, %x, %d and %#v among them.
func (t Token) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(t.String())) }

// MarshalText hides the secret from JSON and from loggers that write it.
func (t Token) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// ID is the lease's public name, 16 hex digits: it ties the events of one lease together
// and cannot be turned back into the lease.
func (t Token) ID() string {
	return hex.EncodeToString(binary.BigEndian.AppendUint64(make([]byte, 0, 8), t.IDNumber()))
}

// IDNumber is [Token.ID] as one number, the way histories keep it.
func (t Token) IDNumber() uint64 {
	const salt = "mutex lease id\x00"
	var in [len(salt) + len(t)]byte
	copy(in[copy(in[:], salt):], t[:])
	sum := sha256.Sum256(in[:])
	return binary.BigEndian.Uint64(sum[:8])
}

// Key is the SHA-256 of a client's Idempotency-Key, which itself is kept nowhere. The zero Key is "none".
type Key [sha256.Size]byte

// KeyOf hashes a client's key. An empty one is no key.
func KeyOf(s string) Key {
	if s == "" {
		return Key{}
	}
	return sha256.Sum256([]byte(s))
}

// IsZero tells whether no key was given.
func (k Key) IsZero() bool { return k == Key{} }
