package browsertest_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

// signIn shows the admin token to the dashboard, by keyboard.
func (p *page) signIn(url string) {
	p.t.Helper()
	p.expect("401 (Unauthorized) (" + url + "/-/dashboard)") // the form comes with it
	p.open(url + "/-/dashboard")
	run(p, chromedp.SendKeys(chromedp.ID("token"), adminToken+"\r"))
	eventually(p.t, "the dashboard is there", func() bool { return eval[bool](p, `!!document.getElementById("live")`) })
}

func TestSignIn(t *testing.T) {
	url := serve(t)
	p := browse(t)
	p.expect("401 (Unauthorized) (" + url + "/-/sign-in)")
	p.expect("401 (Unauthorized) (" + url + "/-/dashboard)")
	p.open(url + "/-/dashboard")
	run(p, chromedp.SendKeys(chromedp.ID("token"), "wrong\r"))
	p.shows("[role=alert]", "not the admin token")
	run(p, chromedp.SendKeys(chromedp.ID("token"), adminToken+"\r"))
	p.shows("h1", "Dashboard")
	p.shows("main", "No topic lives")
	if cookie := eval[string](p, `document.cookie`); cookie != "" {
		t.Errorf("scripts can read the cookie: %s", cookie)
	}
	p.click(".out button")
	p.shows("form.signin", "Admin token")
}

func TestTheDashboardSortsFiltersAndStaysCurrent(t *testing.T) {
	url := serve(t)
	p := browse(t)
	for i, name := range []string{"alpha", "beta", "gamma"} {
		call(t, "POST", fmt.Sprintf("%s/topic-%d?ttl=600&name=%s", url, i, name))
	}
	queue(t, url+"/topic-1?name=waiter")
	p.signIn(url)
	first := `[data-part=topics] tbody tr:first-child`
	p.shows(first, "topic-1") // the one that is waited for
	p.click("#by-topic")
	p.shows(first, "topic-0")
	p.click("#by-topic")
	p.shows(first, "topic-2")
	run(p, chromedp.SendKeys(chromedp.ID("filter"), "BETA\r"))
	p.shows("#chosen", "1 of 3")
	p.shows(first, "beta")
	p.open(url + "/-/dashboard?sort=topic")
	run(p, chromedp.SendKeys(chromedp.ID("filter"), "half-typed"))
	call(t, "POST", url+"/aaa?name=newcomer")
	p.shows(first, "newcomer")
	if typed := eval[string](p, `document.getElementById("filter").value`); typed != "half-typed" {
		t.Errorf("a refresh left %q of what was typed", typed)
	}
	p.shows("[data-part=past]", "grants")
}
