// Package policy says who may do what to which topic, and how far its limits go.
package policy

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"time"

	"legible.sh/mutex/internal/lease"
)

// Right is what somebody wants to do to a topic.
type Right uint8

// The rights. Renewing and releasing come with Acquire.
const (
	Read Right = iota
	Acquire
	Force
)

// What a request is refused with.
var (
	ErrUnauthorized = errors.New("a token is missing or wrong")
	ErrForbidden    = errors.New("this token may not do that")
	// ErrNoAdmin says that nobody can do it, because no admin token is set.
	ErrNoAdmin = errors.New("no admin token is set")
)

// Limits are how far a request's parameters may go.
type Limits struct {
	MaxTTL      time.Duration
	MaxWait     time.Duration
	MaxCapacity int
	MaxWaiters  int
}

// Options are a policy's settings.
type Options struct {
	Tokens     []string // POST and DELETE need one of these; none: they need none
	AdminToken string   // "": nobody is admin
	Limits     Limits
}

// Policy decides. It is safe for concurrent use.
type Policy struct {
	limits Limits
	tokens [][32]byte
	admin  *[32]byte
}

// New makes a policy.
func New(o Options) *Policy {
	p := &Policy{limits: o.Limits}
	for _, t := range o.Tokens {
		p.tokens = append(p.tokens, sha256.Sum256([]byte(t)))
	}
	if o.AdminToken != "" {
		sum := sha256.Sum256([]byte(o.AdminToken))
		p.admin = &sum
	}
	return p
}

// Decide says how far the bearer may go, or why not at all.
func (p *Policy) Decide(_ lease.Topic, right Right, bearer string) (Limits, error) {
	switch {
	case right == Force:
		return p.limits, p.Admin(bearer)
	case right == Read || len(p.tokens) == 0:
		return p.limits, nil
	}
	sum := sha256.Sum256([]byte(bearer))
	ok := 0
	for i := range p.tokens {
		ok |= subtle.ConstantTimeCompare(sum[:], p.tokens[i][:])
	}
	if ok == 1 {
		return p.limits, nil
	}
	return Limits{}, ErrUnauthorized
}

// Admin says whether the bearer is the admin.
func (p *Policy) Admin(bearer string) error {
	if p.admin == nil {
		return ErrNoAdmin
	}
	sum := sha256.Sum256([]byte(bearer))
	switch {
	case subtle.ConstantTimeCompare(sum[:], p.admin[:]) == 1:
		return nil
	case bearer == "":
		return ErrUnauthorized
	}
	return ErrForbidden
}
