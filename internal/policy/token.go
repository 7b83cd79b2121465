package policy

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"strings"
)

// tokenPrefix marks our tokens, for people and for tools that look for secrets where none should be.
const tokenPrefix = "mutex_"

// digest is the SHA-256 of a token: all that is kept of it.
type digest [sha256.Size]byte

// digestOf spares tokens of a usual length the allocation.
func digestOf(token string) digest {
	var short [256]byte
	return sha256.Sum256(append(short[:0], token...))
}

// NewToken makes a token of 256 random bits, and the form of it that goes into a policy file, from which the token
// cannot be computed.
func NewToken() (token, sum string) {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	token = tokenPrefix + base64.RawURLEncoding.EncodeToString(b[:])
	return token, Sum(token)
}

// Sum gives the form of a token that goes into a policy file.
func Sum(token string) string {
	d := digestOf(token)
	return sumPrefix + hex.EncodeToString(d[:])
}

const sumPrefix = "sha256:"

// parseSum reads what [Sum] writes; the prefix may be left out.
func parseSum(s string) (d digest, ok bool) {
	s = strings.TrimPrefix(s, sumPrefix)
	if len(s) != 2*len(d) {
		return digest{}, false
	}
	_, err := hex.Decode(d[:], []byte(s))
	return d, err == nil
}

// among tells whether the digest is one of those, and takes the same time whichever it is.
func (d digest) among(known []digest) bool {
	found := 0
	for i := range known {
		found |= subtle.ConstantTimeCompare(d[:], known[i][:])
	}
	return found == 1
}

// isOurs tells whether a text has the form that [NewToken] gives.
func isOurs(token string) bool {
	b, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(token, tokenPrefix))
	return err == nil && len(b) == 32 && strings.HasPrefix(token, tokenPrefix)
}
