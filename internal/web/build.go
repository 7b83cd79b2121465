package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"
)

// newReference turns the contract into what the template shows.
func newReference(d *document) referenceView {
	b := builder{d}
	v := referenceView{
		Root: inAdmin, Title: d.Info.Title, Version: d.Info.Version, Intro: b.prose(d.Info.Description, 2),
		Chapters: chapters(d.Info.Description),
	}
	for name, s := range d.Components.SecuritySchemes.all() {
		v.Tokens = append(v.Tokens, entry{"token-" + name, tokenNames[name], b.prose(s.Description, 4)})
	}
	for _, t := range d.Tags {
		v.Groups = append(v.Groups, group{entry{"tag-" + t.Name, t.Name, b.prose(t.Description, 4)}, b.operations(t.Name)})
	}
	for name, r := range d.Components.Responses.all() {
		if a := b.answer("", r); refusal(r) {
			a.ID, a.Name = "answer-"+name, name
			v.Refusals = append(v.Refusals, a)
		}
	}
	for name, s := range d.Components.Schemas.all() {
		v.Schemas = append(v.Schemas, b.schema(name, s))
	}
	return v
}

// builder looks things up in the contract.
type builder struct{ *document }

func (b builder) prose(text string, heading int) template.HTML {
	m := markdown{heading: heading, linked: make(map[string]string)}
	for name := range b.Components.Schemas.all() {
		m.linked[name] = "#schema-" + name
	}
	return m.render(text)
}

func chapters(text string) []entry {
	var all []entry
	for line := range strings.SplitSeq(text, "\n") {
		if title, ok := strings.CutPrefix(line, "## "); ok {
			all = append(all, entry{ID: slug(title), Name: title})
		}
	}
	return all
}

var methods = []string{http.MethodPost, http.MethodGet, http.MethodDelete}

// operations are those with a tag, in the order of the document.
func (b builder) operations(tag string) []operationView {
	var all []operationView
	for path, item := range b.Paths.all() {
		var shared []parameter
		if raw, ok := item["parameters"]; ok {
			mustUnmarshal(raw, &shared)
		}
		for _, method := range methods {
			raw, ok := item[strings.ToLower(method)]
			if !ok {
				continue
			}
			var op operation
			mustUnmarshal(raw, &op)
			if !slices.Contains(op.Tags, tag) {
				continue
			}
			op.Parameters = append(shared, op.Parameters...)
			all = append(all, b.operation(method, path, &op))
		}
	}
	return all
}

// mustUnmarshal reads a part of a document that has been read before as a whole.
func mustUnmarshal(raw json.RawMessage, v any) {
	if err := json.Unmarshal(raw, v); err != nil {
		panic(err)
	}
}

func (b builder) operation(method, path string, op *operation) operationView {
	v := operationView{
		entry:  entry{op.OperationID, op.OperationID, b.prose(op.Description, 5)},
		Method: method, Path: path, Summary: op.Summary, Needs: needs(op), Stream: len(op.Events.keys) > 0,
	}
	for _, p := range op.Parameters {
		if name := p.name(); name != "" {
			p = b.Components.Parameters.values[name]
		}
		v.Parameters = append(v.Parameters, b.parameter(op.OperationID, &p))
	}
	for status, r := range op.Responses.all() {
		v.Answers = append(v.Answers, b.answer(status, r))
	}
	for name, r := range op.Events.all() {
		v.Events = append(v.Events, entry{ID: "schema-" + r.name(), Name: name})
	}
	v.Curl = v.curl()
	return v
}

// tokenNames say which token a security scheme is about.
var tokenNames = map[string]string{"token": "token", "adminToken": "admin token"}

// needs tells which token an operation takes.
func needs(op *operation) string {
	switch {
	case op.Security == nil:
		return "token" // where the server has any
	case len(*op.Security) == 0:
		return ""
	}
	for name := range (*op.Security)[0] {
		return tokenNames[name]
	}
	return ""
}

func (b builder) parameter(of string, p *parameter) parameterView {
	kind, _, bounds := b.kind(&p.Schema)
	return parameterView{
		entry: entry{of + "-" + p.Name, p.Name, b.prose(p.Description, 5)},
		In:    p.In, Type: kind, Range: bounds, Example: plain(p.Example), Required: p.Required,
	}
}

// plain is a JSON value without the quotes of a string.
func plain(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// kind tells a schema's type, where that is described, and its range.
func (b builder) kind(s *schema) (kind, link, bounds string) {
	if name := s.name(); name != "" {
		of := b.Components.Schemas.values[name]
		return name, "schema-" + name, strings.Join(of.Enum, ", ")
	}
	kind = s.Type
	switch {
	case s.Format == "date-time":
		kind = "time"
	case s.Items != nil:
		kind, link, _ = b.kind(s.Items)
		kind = "array of " + kind
	}
	if s.Nullable {
		kind += " or null"
	}
	return kind, link, limits(s)
}

// limits are a schema's ranges in words.
func limits(s *schema) string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	switch {
	case s.Minimum != "" && s.Maximum != "":
		add("%s to %s", s.Minimum, s.Maximum)
	case s.Minimum != "":
		add("from %s", s.Minimum)
	}
	if s.MaxLength != nil {
		add("up to %d characters", *s.MaxLength)
	}
	if s.Default != nil {
		add("default %s", plain(s.Default))
	}
	return strings.Join(append(parts, s.Enum...), ", ")
}

// refusal tells whether a shared answer is one that says no.
func refusal(r response) bool {
	for _, c := range r.Content.all() {
		return c.Schema.name() == "ApiError"
	}
	return false
}

func (b builder) answer(status string, r response) answer {
	a := answer{Status: status}
	if name := r.name(); name != "" {
		r = b.Components.Responses.values[name]
		if a.Shared = refusal(r); a.Shared {
			a.ID, a.Name = "answer-"+name, name
		}
	}
	a.About = b.prose(r.Description, 5)
	for _, c := range r.Content.all() {
		a.Type, a.Schema, _ = b.kind(&c.Schema)
		for _, e := range c.Examples.all() {
			if name := e.name(); name != "" {
				e = b.Components.Examples.values[name]
			}
			a.Examples = append(a.Examples, sample{e.Summary, indented(e.Value)})
		}
	}
	return a
}

// indented is JSON as the server writes it, or the text itself where the example is one.
func indented(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return strings.TrimRight(s, "\n")
	}
	var out bytes.Buffer
	if err := json.Indent(&out, raw, "", "  "); err != nil {
		return string(raw)
	}
	return out.String()
}

func (b builder) schema(name string, s schema) schemaView {
	v := schemaView{entry: entry{"schema-" + name, name, b.prose(s.Description, 4)}, Values: s.Enum}
	for _, one := range s.OneOf {
		v.OneOf = append(v.OneOf, one.name())
	}
	for key, p := range s.Properties.all() {
		kind, link, bounds := b.kind(&p)
		if name := p.name(); name != "" && p.Description == "" {
			p.Description = b.Components.Schemas.values[name].Description
		}
		v.Fields = append(v.Fields, field{
			entry: entry{"", key, b.prose(p.Description, 5)},
			Type:  kind, Schema: link, Range: bounds, Required: slices.Contains(s.Required, key),
		})
	}
	return v
}

// mostInCurl is how many parameters of a query an example has room for: the first ones matter most.
const mostInCurl = 2

// curl is the operation as a command, with what its parameters have for examples.
func (v *operationView) curl() string {
	path := v.Path
	var query []string
	for _, p := range v.Parameters {
		switch {
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", p.Example)
		case p.In == "query" && p.Example != "" && len(query) < mostInCurl:
			query = append(query, p.Name+"="+strings.ReplaceAll(p.Example, " ", "%20"))
		}
	}
	if len(query) > 0 {
		path += "?" + strings.Join(query, "&")
	}
	flags := ""
	switch {
	case v.Stream:
		flags = " -N"
	case v.Method != http.MethodGet:
		flags = " -X " + v.Method
	}
	if v.Needs == tokenNames["adminToken"] {
		flags += ` -H "Authorization: Bearer $MUTEX_ADMIN_TOKEN"`
	}
	return "curl" + flags + ` "$MUTEX_URL` + path + `"`
}
