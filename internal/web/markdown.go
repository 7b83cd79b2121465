package web

import (
	"html"
	"html/template"
	"strings"
)

// markdown turns the contract's prose into HTML. It knows what the contract uses: paragraphs, headings, lists, tables,
// fenced code, and within a line code, bold and links. All text is escaped, whatever it looks like.
type markdown struct {
	heading int               // the level that ## becomes
	linked  map[string]string // code that is a name: where it leads
	out     strings.Builder
}

// render renders a text.
func (m markdown) render(text string) template.HTML {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for len(lines) > 0 {
		lines = lines[m.block(lines):]
	}
	return template.HTML(m.out.String())
}

// block renders what begins with the first line, and tells how many lines that took.
func (m *markdown) block(lines []string) int {
	line := lines[0]
	switch {
	case strings.TrimSpace(line) == "":
		return 1
	case strings.HasPrefix(line, "```"):
		return m.code(lines)
	case strings.HasPrefix(line, "## "):
		return m.title(line)
	case strings.HasPrefix(line, "| "):
		return m.table(lines)
	case item(line) != "":
		return m.items(lines)
	}
	n := linesUntil(lines, func(s string) bool { return strings.TrimSpace(s) == "" || strings.HasPrefix(s, "```") })
	m.wrap("p", strings.Join(lines[:n], " "))
	return n
}

func (m *markdown) wrap(tag, text string) {
	m.out.WriteString("<" + tag + ">")
	m.inline(text)
	m.out.WriteString("</" + tag + ">\n")
}

func (m *markdown) title(line string) int {
	text := strings.TrimPrefix(line, "## ")
	level := string(rune('0' + m.heading))
	m.out.WriteString("<h" + level + ` id="` + slug(text) + `">`)
	m.inline(text)
	m.out.WriteString("</h" + level + ">\n")
	return 1
}

// slug makes a title into what a link can name.
func slug(title string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, title), "-")
}

func (m *markdown) code(lines []string) int {
	n := linesUntil(lines, func(s string) bool { return strings.HasPrefix(s, "```") })
	m.out.WriteString(`<pre tabindex="0"><code>` + html.EscapeString(strings.Join(lines[1:n], "\n")) + "</code></pre>\n")
	return min(n+1, len(lines))
}

// linesUntil counts lines up to the first after lines[0] that ends what began there.
func linesUntil(lines []string, ends func(string) bool) int {
	n := 1
	for n < len(lines) && !ends(lines[n]) {
		n++
	}
	return n
}

// item gives the tag of the list that a line is an item of, "" for none.
func item(line string) string {
	if strings.HasPrefix(line, "- ") {
		return "ul"
	}
	digits := strings.TrimLeft(line, "0123456789")
	if len(digits) < len(line) && strings.HasPrefix(digits, ". ") {
		return "ol"
	}
	return ""
}

func (m *markdown) items(lines []string) int {
	tag := item(lines[0])
	m.out.WriteString("<" + tag + ">\n")
	n := 0
	for n < len(lines) && item(lines[n]) == tag {
		end := n + linesUntil(lines[n:], func(s string) bool { return !strings.HasPrefix(s, "  ") })
		text := lines[n][strings.Index(lines[n], " ")+1:]
		for _, more := range lines[n+1 : end] {
			text += " " + strings.TrimSpace(more)
		}
		m.wrap("li", text)
		n = end
	}
	m.out.WriteString("</" + tag + ">\n")
	return n
}

func (m *markdown) table(lines []string) int {
	n := linesUntil(lines, func(s string) bool { return !strings.HasPrefix(s, "|") })
	m.out.WriteString("<table>\n<thead>")
	m.row("th", lines[0])
	m.out.WriteString("</thead>\n<tbody>\n")
	for _, line := range lines[min(2, n):n] {
		m.row("td", line)
	}
	m.out.WriteString("</tbody>\n</table>\n")
	return n
}

func (m *markdown) row(tag, line string) {
	m.out.WriteString("<tr>")
	for cell := range strings.SplitSeq(strings.Trim(strings.TrimSpace(line), "|"), "|") {
		open := tag
		if tag == "th" {
			open = `th scope="col"`
		}
		m.out.WriteString("<" + open + ">")
		m.inline(strings.TrimSpace(cell))
		m.out.WriteString("</" + tag + ">")
	}
	m.out.WriteString("</tr>\n")
}

// inline renders code, bold text and plain text.
func (m *markdown) inline(text string) {
	for text != "" {
		at := strings.IndexAny(text, "`*")
		if at < 0 {
			break
		}
		mark, tag := "`", "code"
		if text[at] == '*' {
			mark, tag = "**", "strong"
		}
		inner, rest, ok := enclosed(text[at:], mark)
		if !ok {
			m.out.WriteString(html.EscapeString(text[:at+1]))
			text = text[at+1:]
			continue
		}
		m.out.WriteString(html.EscapeString(text[:at]))
		m.span(tag, inner)
		text = rest
	}
	m.out.WriteString(html.EscapeString(text))
}

// enclosed takes a text apart that begins with a mark: what stands up to the next one, and the rest.
func enclosed(text, mark string) (inner, rest string, ok bool) {
	after, ok := strings.CutPrefix(text, mark)
	if !ok {
		return "", "", false
	}
	return strings.Cut(after, mark)
}

func (m *markdown) span(tag, inner string) {
	m.out.WriteString("<" + tag + ">")
	if to := m.linked[inner]; tag == "code" && to != "" {
		m.out.WriteString(`<a href="` + html.EscapeString(to) + `">` + html.EscapeString(inner) + "</a>")
	} else if tag == "strong" {
		m.inline(inner)
	} else {
		m.out.WriteString(html.EscapeString(inner))
	}
	m.out.WriteString("</" + tag + ">")
}
