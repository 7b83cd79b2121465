package teach

import (
	"embed"
	"strings"
	"text/template"
	"unicode/utf8"
)

//go:embed templates
var files embed.FS

// values are what a template is filled with.
type values struct{ URL string }

// tongues says in which tongue each template speaks.
var tongues = map[string]Tongue{
	"block.md": HTTP, "help.txt": HTTP, "llms.txt": HTTP, "skill-mutex.md": Command, "skill-agentmutex.md": Directory,
}

func render(name, url string) string {
	text, err := files.ReadFile("templates/" + name)
	if err != nil {
		panic(err) // it is built in
	}
	t := template.Must(template.New(name).Funcs(tongues[name].functions()).Parse(string(text)))
	var b strings.Builder
	if err := t.Execute(&b, values{strings.TrimSuffix(url, "/")}); err != nil {
		panic(err) // likewise, and tested
	}
	return b.String()
}

func (t Tongue) functions() template.FuncMap {
	return template.FuncMap{
		"rules": t.list,
		"say":   func(names ...string) string { return fill(t.all(names), "") + "\n" },
		"http":  func(names ...string) string { return fill(HTTP.all(names), "") + "\n" },
	}
}

// all gives rules one after the other.
func (t Tongue) all(names []string) string {
	said := make([]string, len(names))
	for i, name := range names {
		said[i] = t.Say(name)
	}
	return strings.Join(said, " ")
}

// list gives rules as a list in markdown.
func (t Tongue) list(names ...string) string {
	var b strings.Builder
	for _, name := range names {
		b.WriteString(fill("- "+t.Say(name), "  ") + "\n")
	}
	return b.String()
}

// width is how wide texts are written.
const width = 120

// fill breaks a text into lines, all but the first indented.
func fill(text, indent string) string {
	var b strings.Builder
	column := 0
	for i, word := range strings.Fields(text) {
		switch n := utf8.RuneCountInString(word); {
		case i == 0:
			column = n
		case column+1+n > width:
			b.WriteString("\n" + indent)
			column = len(indent) + n
		default:
			b.WriteByte(' ')
			column += 1 + n
		}
		b.WriteString(word)
	}
	return b.String()
}

// Block is what to paste into an agent's instructions, for the server at url.
func Block(url string) string { return render("block.md", url) }

// Help is the text at the root of the server at url.
func Help(url string) string { return render("help.txt", url) }

// Llms is /llms.txt.
func Llms() string { return render("llms.txt", "") }

// Instructions is what the MCP server tells whoever connects.
func Instructions() string {
	return "Named leases, so that of many agents only one does a thing at a time.\n\n" +
		MCP.list("when", "name", "grant", "reread", "lost", "fence", "release")
}
