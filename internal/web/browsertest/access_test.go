package browsertest_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// pages are all there are; the sign-in form is looked at before the sign-in.
var pages = []string{"/", "/deploy:staging", "/gpu", "/backup", "/never-used", "/-/dashboard", "/-/docs"}

// TestAccessibility has axe look at every page, light on a desk and dark on a phone with everything unfolded, and
// allows no page to be wider than a phone.
func TestAccessibility(t *testing.T) {
	axe := axe(t)
	url := busy(t)
	p := browse(t)
	p.expect("401 (Unauthorized) (" + url + "/-/dashboard)")
	look := func(path string) {
		p.scheme("light")
		p.desk()
		p.open(url + path)
		p.check(axe, path+", light")
		p.scheme("dark")
		p.phone()
		p.open(url + path)
		eval[any](p, `document.querySelectorAll("details").forEach((d) => d.open = true)`)
		p.check(axe, path+", dark, on a phone")
		if wide := eval[string](p, tooWide); wide != "" {
			t.Errorf("%s is wider than a phone: %s", path, wide)
		}
	}
	look("/-/dashboard")
	p.desk()
	p.signIn(url)
	for _, path := range pages {
		look(path)
	}
}

// tooWide names what makes a page scroll sideways, "" if it does not.
const tooWide = `(() => {
	const room = document.documentElement.clientWidth;
	if (document.documentElement.scrollWidth <= room) return "";
	const wide = [...document.querySelectorAll("main *, header *, nav *")].filter((e) => e.getBoundingClientRect().right > room + 1);
	return document.documentElement.scrollWidth + " px: " + wide.slice(0, 3).map((e) => e.outerHTML.slice(0, 120)).join(" ");
})()`

// axe is the accessibility checker, as a script.
func axe(t *testing.T) string {
	t.Helper()
	where, err := exec.Command("./install.sh", "where").Output()
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile(strings.TrimSpace(string(where)))
	if err != nil {
		t.Fatalf("axe-core is missing: run make tools, or internal/web/browsertest/install.sh (%v)", err)
	}
	return string(script)
}

type violation struct {
	ID, Impact, Help string
	Nodes            []string
}

// check fails on everything that axe finds moderate, serious or critical.
func (p *page) check(axe, what string) {
	p.t.Helper()
	eval[any](p, axe+";null")
	found := eval[[]violation](p, `axe.run(document, { resultTypes: ["violations"] }).then((r) => r.violations.map((v) =>
		({ id: v.id, impact: v.impact, help: v.help, nodes: v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160) + " " + n.failureSummary) })))`)
	for _, v := range found {
		report := p.t.Errorf
		if v.Impact == "minor" {
			report = p.t.Logf
		}
		report("%s: %s (%s): %s\n\t%s", what, v.ID, v.Impact, v.Help, strings.Join(v.Nodes, "\n\t"))
	}
}

// TestEverythingCanBeReachedByKeyboard: Tab goes to everything that can be used, in order, and it shows where it is.
func TestEverythingCanBeReachedByKeyboard(t *testing.T) {
	url := busy(t)
	p := browse(t)
	p.signIn(url)
	for _, path := range pages {
		p.open(url + path)
		// By what they are called: a live page may replace them meanwhile.
		total := eval[int](p, `(() => {
			window.called = (e) => [e.tagName, e.id, e.name, e.getAttribute("href"), e.getAttribute("aria-label") || e.textContent.trim()].join("|");
			window.reached = new Set();
			window.hidden = [];
			document.addEventListener("focusin", (e) => {
				window.reached.add(window.called(e.target));
				const s = getComputedStyle(e.target);
				if (s.outlineStyle === "none" && !e.target.matches("main")) window.hidden.push(e.target.outerHTML.slice(0, 120));
			});
			return `+usable+`.length;
		})()`)
		p.keys(kb.Tab)
		if first := eval[string](p, `document.activeElement.textContent`); path != "/-/dashboard" && first != "Skip to the content" {
			t.Errorf("%s: Tab goes to %q first", path, first)
		}
		missing := func() []string {
			return eval[[]string](p, usable+`.filter((e) => !window.reached.has(window.called(e))).slice(0, 5).map((e) => e.outerHTML.slice(0, 160))`)
		}
		for range 3 { // rounds: a refresh may send the focus back to the beginning
			for range total + 1 {
				p.keys(kb.Tab)
			}
			if len(missing()) == 0 {
				break
			}
		}
		if missed := missing(); len(missed) > 0 {
			t.Errorf("%s: Tab never goes to %s", path, strings.Join(missed, "\n\t"))
		}
		if hidden := eval[[]string](p, `window.hidden`); len(hidden) > 0 {
			t.Errorf("%s: nothing shows that the focus is on %s", path, strings.Join(hidden, "\n\t"))
		}
	}
}

// usable are the elements that a person can do something with now.
const usable = `[...document.querySelectorAll("a[href], button, input, select, summary, [tabindex='0']")]
	.filter((e) => e.checkVisibility() && !e.disabled && e.type !== "hidden")`
