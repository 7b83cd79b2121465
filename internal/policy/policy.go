package policy

import (
	"sync/atomic"

	"legible.sh/mutex/internal/lease"
)

// Right is something that can be done to a topic.
type Right uint8

// The rights. Who may acquire or force may read, too.
const (
	Read    Right = iota // status, events, history
	Acquire              // acquire, renew, release
	Force                // end other people's leases
)

const rights = 3

func (r Right) String() string { return [rights]string{"read", "acquire", "force"}[r] }

// Options are what a server is started with.
type Options struct {
	Tokens     []string // any of them may acquire where no rule says otherwise; none: everybody may
	AdminToken string   // may do everything; "": there is no admin
	Limits     Limits   // where no rule says otherwise
}

// Policy answers who may do what. Safe for concurrent use.
type Policy struct {
	server   []digest
	admin    []digest // one or none
	fallback rule     // for topics that no rule is about
	rules    atomic.Pointer[ruleSet]
}

// ruleSet is what a policy file comes down to.
type ruleSet struct {
	rules []rule
	known []digest // every token named in the file, the server's and the admin's
}

// rule is what holds for some topics.
type rule struct {
	patterns []pattern
	limits   Limits
	access   [rights]access
}

// access says who has a right. The admin has every one.
type access struct {
	anyone bool
	tokens []digest
}

// New makes the policy of a server without a policy file.
func New(o Options) *Policy {
	p := &Policy{}
	for _, t := range o.Tokens {
		p.server = append(p.server, digestOf(t))
	}
	if o.AdminToken != "" {
		p.admin = []digest{digestOf(o.AdminToken)}
	}
	p.fallback = rule{limits: o.Limits, access: [rights]access{
		Read:    {anyone: true},
		Acquire: {anyone: len(p.server) == 0, tokens: p.server},
	}}
	p.rules.Store(&ruleSet{known: p.known(nil)})
	return p
}

// known lists every token that means something here.
func (p *Policy) known(more []digest) []digest {
	all := append([]digest(nil), p.server...)
	return append(append(all, p.admin...), more...)
}

// Decide tells whether whoever presents that token, "" for none, may do that to the topic, and how far its limits go.
// The error is [ErrUnauthorized], [ErrForbidden] or [ErrNoAdmin].
func (p *Policy) Decide(topic lease.Topic, right Right, token string) (Limits, error) {
	set := p.rules.Load()
	r := p.find(set, topic)
	a := &r.access[right]
	if a.anyone {
		return r.limits, nil
	}
	if err := p.admit(set, a, token); err != nil {
		return Limits{}, err
	}
	return r.limits, nil
}

// Admin tells whether whoever presents that token is the admin. The error is as with [Policy.Decide].
func (p *Policy) Admin(token string) error {
	return p.admit(p.rules.Load(), &access{}, token)
}

// HasAdmin tells whether there is an admin token.
func (p *Policy) HasAdmin() bool { return len(p.admin) > 0 }

// find gives the first rule about the topic.
func (p *Policy) find(set *ruleSet, topic lease.Topic) *rule {
	for i := range set.rules {
		r := &set.rules[i]
		for j := range r.patterns {
			if r.patterns[j].matches(string(topic)) {
				return r
			}
		}
	}
	return &p.fallback
}

// admit tells the one with a token that will do from the one with another token and from everybody else.
// All three comparisons are always made.
func (p *Policy) admit(set *ruleSet, a *access, token string) error {
	if len(p.admin) == 0 && len(a.tokens) == 0 {
		return ErrNoAdmin
	}
	if token == "" {
		return ErrUnauthorized
	}
	d := digestOf(token)
	admitted, admin, known := d.among(a.tokens), d.among(p.admin), d.among(set.known)
	switch {
	case admitted || admin:
		return nil
	case known:
		return ErrForbidden
	}
	return ErrUnauthorized
}
