package web

import (
	"strings"
	"testing"
)

func TestMarkdown(t *testing.T) {
	for text, want := range map[string]string{
		"one\ntwo\n\nthree":           "<p>one two</p>\n<p>three</p>\n",
		"## A lease, not a lock":      `<h4 id="a-lease--not-a-lock">A lease, not a lock</h4>` + "\n",
		"a `b<c` **d `e`** *f*":       "<p>a <code>b&lt;c</code> <strong>d <code>e</code></strong> *f*</p>\n",
		"see `Grant`":                 `<p>see <code><a href="#schema-Grant">Grant</a></code></p>` + "\n",
		"- a\n  b\n- c\n\n1. d\n2. e": "<ul>\n<li>a b</li>\n<li>c</li>\n</ul>\n<ol>\n<li>d</li>\n<li>e</li>\n</ol>\n",
		"```sh\n<x> `y`\n```\nz":      "<pre tabindex=\"0\"><code>&lt;x&gt; `y`</code></pre>\n<p>z</p>\n",
		"| a | b |\n| - | - |\n| `c` | d |": "<table>\n<thead><tr><th scope=\"col\">a</th><th scope=\"col\">b</th></tr>\n</thead>\n<tbody>\n" +
			"<tr><td><code>c</code></td><td>d</td></tr>\n</tbody>\n</table>\n",
		"<script>&\"'":     "<p>&lt;script&gt;&amp;&#34;&#39;</p>\n",
		"an open ` and **": "<p>an open ` and **</p>\n",
		"```":              "<pre tabindex=\"0\"><code></code></pre>\n",
		"":                 "",
	} {
		m := markdown{heading: 4, linked: map[string]string{"Grant": "#schema-Grant"}}
		if got := string(m.render(text)); got != want {
			t.Errorf("%q:\n got %q\nwant %q", text, got, want)
		}
	}
}

// FuzzMarkdown: whatever the text, nothing in it becomes markup, and rendering ends.
func FuzzMarkdown(f *testing.F) {
	for _, s := range []string{"- a\n  b", "| a |", "```\nx", "**`a`**", "## <b>", "1. x\n2. y", "*", "``", "|\n|"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m := markdown{heading: 3}
		out := string(m.render(strings.ReplaceAll(text, "<", "<x ")))
		if strings.Contains(out, "<x") {
			t.Errorf("%q became %q", text, out)
		}
	})
}
