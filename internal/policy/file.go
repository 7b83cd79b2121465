package policy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// file is a policy file without mistakes.
type file struct {
	tokens []digest // all that are named in it
	rules  []fileRule
}

// fileRule is a rule as it stands in the file.
type fileRule struct {
	line     int
	patterns []pattern
	grants   [rights]*grant // nil: as without a file
	limits   overrides
}

// grant is who has a right by a rule.
type grant struct {
	line   int
	anyone bool
	server bool // whoever has one of the server's own tokens
	tokens []digest
}

// parse reads a policy file. It finds every mistake, not only the first.
func parse(text []byte) (*file, []Problem) {
	r := reader{named: make(map[string][]digest)}
	if root := r.document(text); root != nil {
		r.root(root)
	}
	slices.SortStableFunc(r.problems, func(a, b Problem) int { return a.Line - b.Line })
	return &r.file, r.problems
}

// reader goes through the nodes of a file and gathers what it finds, and what is wrong.
type reader struct {
	file     file
	named    map[string][]digest
	problems []Problem
}

func (r *reader) wrong(line int, format string, args ...any) {
	r.problems = append(r.problems, Problem{Line: line, Text: fmt.Sprintf(format, args...)})
}

// syntaxError takes a YAML error's text apart; its line has no other way out.
var syntaxError = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`)

// document gives the root of the only document in the text.
func (r *reader) document(text []byte) *yaml.Node {
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var doc, next yaml.Node
	err := dec.Decode(&doc)
	switch {
	case errors.Is(err, io.EOF):
		r.wrong(0, "the file is empty; a policy without rules is written as: rules: []")
		return nil
	case err != nil:
		r.syntax(err)
		return nil
	}
	if err := dec.Decode(&next); !errors.Is(err, io.EOF) {
		r.wrong(next.Line, "the file has a second document; write one")
		return nil
	}
	return doc.Content[0]
}

func (r *reader) syntax(err error) {
	line, text := 0, "not YAML"
	if m := syntaxError.FindStringSubmatch(err.Error()); m != nil {
		line, _ = strconv.Atoi(m[1])
		text = "not YAML: " + m[2]
		if strings.HasPrefix(m[2], "unknown anchor") { // which it quotes, and it may be a token that begins with *
			text = "not YAML: an alias of nothing"
		}
	}
	r.wrong(line, "%s (a topic pattern that begins with * must stand in quotes)", text)
}

func (r *reader) root(n *yaml.Node) {
	var rules *yaml.Node
	r.fields(n, map[string]func(*yaml.Node){
		"tokens": r.tokens,
		"rules":  func(n *yaml.Node) { rules = n },
	})
	if rules == nil {
		if n.Kind == yaml.MappingNode {
			r.wrong(n.Line, "there are no rules; a policy without rules is written as: rules: []")
		}
		return
	}
	// Last, wherever it stands: the rules use the names of the tokens.
	for _, item := range r.list(rules, "rules") {
		r.rule(item)
	}
}

// fields calls the handler of each field of a mapping, and refuses any other field, and a field that comes twice.
func (r *reader) fields(n *yaml.Node, handlers map[string]func(*yaml.Node)) {
	r.pairs(n, func(key, value *yaml.Node) {
		handle := handlers[key.Value]
		if handle == nil {
			r.wrong(key.Line, "there is no such field; the fields here are %s", names(handlers))
			return
		}
		handle(value)
	})
}

// pairs calls each with every key and value of a mapping.
func (r *reader) pairs(n *yaml.Node, each func(key, value *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		r.wrong(n.Line, "this must be fields with values, as in key: value")
		return
	}
	seen := make(map[string]int)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode || key.Tag == "!!merge" {
			r.wrong(key.Line, "a field's name must be plain text")
			continue
		}
		if before := seen[key.Value]; before > 0 {
			r.wrong(key.Line, "this field stands on line %d already", before)
			continue
		}
		seen[key.Value] = key.Line
		each(key, value)
	}
}

// list gives the items of a sequence; a single value is a list of one where only scalars are expected.
func (r *reader) list(n *yaml.Node, what string) []*yaml.Node {
	switch {
	case n.Kind == yaml.SequenceNode:
		return n.Content
	case n.Kind == yaml.ScalarNode && n.Tag != "!!null" && what != "rules":
		return []*yaml.Node{n}
	}
	r.wrong(n.Line, "%s must be a list", what)
	return nil
}

// scalar gives the text of a single value.
func (r *reader) scalar(n *yaml.Node, what string) (string, bool) {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" || n.Value == "" {
		r.wrong(n.Line, "%s must be a single value", what)
		return "", false
	}
	return n.Value, true
}

func names[T any](m map[string]T) string {
	all := make([]string, 0, len(m))
	for name := range m {
		all = append(all, name)
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}
