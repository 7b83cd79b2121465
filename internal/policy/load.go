package policy

import (
	"fmt"
	"io"
	"os"
)

// maxFile bounds a policy file, in bytes.
const maxFile = 1 << 20

// Load puts the rules of a file in force. When anything is wrong with it, nothing changes, and the error says what:
// a [*FileError], or why it cannot be read.
func (p *Policy) Load(path string) error {
	f, err := read(path)
	if err != nil {
		return err
	}
	set, problems := p.compile(f)
	if len(problems) > 0 {
		return &FileError{Path: path, Problems: problems}
	}
	p.rules.Store(set)
	return nil
}

// Check tells what is wrong with a policy file, as [Policy.Load] would, apart from what depends on how a server is
// started.
func Check(path string) error {
	_, err := read(path)
	return err
}

func read(path string) (*file, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	defer func() { _ = in.Close() }()
	text, err := io.ReadAll(io.LimitReader(in, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	if len(text) > maxFile {
		return nil, &FileError{Path: path, Problems: []Problem{{Text: fmt.Sprintf("the file is larger than %d bytes", maxFile)}}}
	}
	f, problems := parse(text)
	if len(problems) > 0 {
		return nil, &FileError{Path: path, Problems: problems}
	}
	return f, nil
}

// compile joins a file's rules with the server's own tokens and limits.
func (p *Policy) compile(f *file) (*ruleSet, []Problem) {
	set := &ruleSet{known: p.known(f.tokens)}
	var problems []Problem
	for _, from := range f.rules {
		to := rule{patterns: from.patterns, limits: from.limits.apply(p.fallback.limits), access: p.fallback.access}
		for right, g := range from.grants {
			if g == nil {
				continue
			}
			to.access[right] = access{anyone: g.anyone, tokens: g.tokens}
			if !g.server {
				continue
			}
			if len(p.server) == 0 {
				problems = append(problems, Problem{g.line, "server stands for the tokens given with --token, and this server was started without"})
			}
			to.access[right].tokens = append(g.tokens[:len(g.tokens):len(g.tokens)], p.server...)
		}
		to.access[Read] = to.access[Read].or(to.access[Acquire]).or(to.access[Force])
		set.rules = append(set.rules, to)
	}
	return set, problems
}

// or gives the right to those who have either.
func (a access) or(b access) access {
	return access{anyone: a.anyone || b.anyone, tokens: append(a.tokens[:len(a.tokens):len(a.tokens)], b.tokens...)}
}
