package web

import (
	"embed"
	"html/template"
)

//go:embed templates static
var files embed.FS

// Pages renders pages. The zero value is not ready; use [New].
type Pages struct {
	home, topic, dashboard, signIn *template.Template
	reference                      rendered
}

// New parses the templates and renders the API reference. It panics in a program that was built wrong.
func New() *Pages {
	layout := template.Must(template.New("layout.html").Funcs(functions).ParseFS(files, "templates/layout.html", "templates/parts.html"))
	parse := func(name string) *template.Template {
		return template.Must(template.Must(layout.Clone()).ParseFS(files, "templates/"+name+".html"))
	}
	return &Pages{
		home: parse("home"), topic: parse("topic"), dashboard: parse("dashboard"), signIn: parse("signin"),
		reference: renderReference(parse("reference")),
	}
}

// functions are what templates may call.
var functions = template.FuncMap{
	"asset": asset, "clock": clock, "clockAt": clockAt, "day": day, "dict": dict, "grouped": grouped,
	"instructions": instructions, "rfc3339": rfc3339, "rfc3339At": rfc3339At, "seconds": seconds, "since": since,
	"span": span, "until": until, "workers": func() []string { return []string{"alice", "bob"} },
}

// dict makes a map of names and values, for a template that is given several things.
func dict(pairs ...any) map[string]any {
	m := make(map[string]any, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		m[pairs[i].(string)] = pairs[i+1]
	}
	return m
}

// Where a page stands relative to the server's root: its links begin with this.
const (
	atRoot  = "./"
	inAdmin = "../" // of pages below /-/
)
