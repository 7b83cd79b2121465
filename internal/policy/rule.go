package policy

import (
	"time"

	"go.yaml.in/yaml/v3"
)

// Who can be named in a rule beside the file's own tokens.
const (
	nameAnyone = "anyone" // no token needed
	nameServer = "server" // the tokens that the server was started with
	nameAdmin  = "admin"  // the admin has every right anyway: naming it alone leaves out everybody else
)

const maxTokenName = 32

// tokens reads the names that the file gives to tokens.
func (r *reader) tokens(n *yaml.Node) {
	r.pairs(n, func(key, value *yaml.Node) {
		switch {
		case !isTokenName(key.Value):
			r.wrong(key.Line, "a token's name is 1 to %d of a-z 0-9 _ -, beginning with a letter", maxTokenName)
			return
		case key.Value == nameAnyone, key.Value == nameServer, key.Value == nameAdmin:
			r.wrong(key.Line, "%s has a meaning of its own; give the token another name", key.Value)
			return
		}
		r.named[key.Value] = []digest{}
		for _, item := range r.list(value, "a token's value") {
			d, ok := parseSum(item.Value)
			if item.Kind != yaml.ScalarNode || !ok {
				r.wrong(item.Line, "this is not the SHA-256 of a token, 64 hex digits; never put a token itself here (mutex token makes both)")
				continue
			}
			r.named[key.Value] = append(r.named[key.Value], d)
			r.file.tokens = append(r.file.tokens, d)
		}
	})
}

func isTokenName(s string) bool {
	if s == "" || len(s) > maxTokenName || s[0] < 'a' || s[0] > 'z' {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '_', c == '-':
		default:
			return false
		}
	}
	return true
}

func (r *reader) rule(n *yaml.Node) {
	to := fileRule{line: n.Line}
	grantTo := func(right Right) func(*yaml.Node) {
		return func(n *yaml.Node) { to.grants[right] = r.grant(n, right) }
	}
	topics := false
	r.fields(n, map[string]func(*yaml.Node){
		"topic":        func(n *yaml.Node) { topics = true; to.patterns = r.patterns(n) },
		"read":         grantTo(Read),
		"acquire":      grantTo(Acquire),
		"force":        grantTo(Force),
		"max_ttl":      func(n *yaml.Node) { to.limits.ttl = r.duration(n, "max_ttl", minTTL, maxTTL) },
		"max_wait":     func(n *yaml.Node) { to.limits.wait = r.duration(n, "max_wait", 0, maxWait) },
		"max_capacity": func(n *yaml.Node) { to.limits.capacity = r.count(n, "max_capacity", maxCapacity) },
		"max_waiters":  func(n *yaml.Node) { to.limits.waiters = r.count(n, "max_waiters", maxWaiters) },
	})
	if !topics && n.Kind == yaml.MappingNode {
		r.wrong(n.Line, "the rule has no topic")
	}
	r.file.rules = append(r.file.rules, to)
}

// patterns reads a rule's topics. One that an earlier rule covers is a mistake: the rule would never be reached.
func (r *reader) patterns(n *yaml.Node) (patterns []pattern) {
	items := r.list(n, "topic")
	if len(items) == 0 && n.Kind == yaml.SequenceNode {
		r.wrong(n.Line, "topic must name at least one topic")
	}
	for _, item := range items {
		if item.Kind != yaml.ScalarNode || !fits(item.Value) {
			r.wrong(item.Line, "a topic pattern is 1 to %d of a-z A-Z 0-9 _ : - and *, which stands for anything", maxPattern)
			continue
		}
		p := newPattern(item.Value)
		for _, before := range r.file.rules {
			for i := range before.patterns {
				if before.patterns[i].covers(&p) {
					r.wrong(item.Line, "%s is never reached: the rule on line %d has %s, and the first rule that matches counts",
						p.text, before.line, before.patterns[i].text)
				}
			}
		}
		patterns = append(patterns, p)
	}
	return patterns
}

// grant reads who has a right. What is no name it does not repeat: it may be a token, put there by mistake.
func (r *reader) grant(n *yaml.Node, right Right) *grant {
	g := &grant{line: n.Line}
	for _, item := range r.list(n, right.String()) {
		d, isDigest := parseSum(item.Value)
		named, known := r.named[item.Value]
		switch {
		case item.Kind != yaml.ScalarNode:
			r.wrong(item.Line, "%s is a list of names", right)
		case item.Value == nameAnyone && right == Force:
			r.wrong(item.Line, "force cannot be open to anyone")
		case item.Value == nameAnyone:
			g.anyone = true
		case item.Value == nameServer:
			g.server = true
		case item.Value == nameAdmin:
		case known:
			g.tokens = append(g.tokens, named...)
		case isDigest:
			g.tokens = append(g.tokens, d)
			r.file.tokens = append(r.file.tokens, d)
		default:
			r.wrong(item.Line, "this is no name from tokens, and not the SHA-256 of a token; the names are %s",
				r.everyName())
		}
	}
	return g
}

func (r *reader) everyName() string {
	all := map[string]bool{nameAnyone: true, nameServer: true, nameAdmin: true}
	for name := range r.named {
		all[name] = true
	}
	return names(all)
}

func (r *reader) duration(n *yaml.Node, what string, least, most time.Duration) *time.Duration {
	text, ok := r.scalar(n, what)
	if !ok {
		return nil
	}
	d, err := parseDuration(text, least, most)
	if err != nil {
		r.wrong(n.Line, "%s: %v", what, err)
	}
	return &d
}

func (r *reader) count(n *yaml.Node, what string, most int) *int {
	text, ok := r.scalar(n, what)
	if !ok {
		return nil
	}
	c, err := parseCount(text, most)
	if err != nil {
		r.wrong(n.Line, "%s: %v", what, err)
	}
	return &c
}
