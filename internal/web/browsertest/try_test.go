package browsertest_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestTheHomePageCanBeTried: two workers, one topic, this very server.
func TestTheHomePageCanBeTried(t *testing.T) {
	url := serve(t)
	p := browse(t)
	p.expect("408 (Request Timeout)")
	p.open(url + "/")
	p.shows("main", "curl -X POST '"+url+"/deploy:staging?ttl=60&wait=300'")
	alice, bob := "[data-name=alice]", "[data-name=bob]"
	p.click(alice + " [data-do=acquire]")
	p.shows(alice, "holds it, fence 1")
	p.shows("#wire", `"fence": 1`)
	p.click(bob + " [data-do=acquire]")
	p.shows(bob, "waits in line")
	topic := eval[string](p, `document.getElementById("topic").value`)
	if n := waiting(t, url+"/"+topic); n != 1 {
		t.Errorf("%d wait", n)
	}
	p.click(alice + " [data-do=renew]")
	p.shows("#wire", "/renew")
	p.click(alice + " [data-do=release]")
	p.shows(bob, "holds it, fence 2")
	p.shows(alice, "gave it back")
	p.click(alice + " [data-do=acquire]")
	p.shows(alice, "waits in line")
	p.click(alice + " [data-do=release]")
	p.shows(alice, "left the line")
	eventually(t, "the queue is empty", func() bool { return waiting(t, url+"/"+topic) == 0 })
	p.open(url + "/-/docs") // whoever leaves holds nothing
	eventually(t, "the lease was given back", func() bool { return call(t, "GET", url+"/"+topic)["state"] == "free" })
}

func TestEveryCallOfTheReferenceCanBeTried(t *testing.T) {
	url := serve(t)
	p := browse(t)
	p.open(url + "/-/docs")
	p.click("#bearer input")
	run(p, chromedp.SendKeys(chromedp.ID("token"), adminToken))
	for _, try := range []struct {
		operation, want string
		fields          map[string]string
	}{
		{"acquire", `"fence": 1`, map[string]string{"topic": "tried:here", "name": "me & you"}},
		{"getTopic", `"name": "me & you"`, map[string]string{"topic": "tried:here"}},
		{"listTopics", `"total": 1`, nil},
		{"forceRelease", `"dry_run": true`, map[string]string{"topic": "tried:here", "dry_run": "true"}},
		{"healthy", `"status": "ok"`, nil},
	} {
		article := `article:has(> #` + try.operation + `) `
		p.click(article + "details.try > summary")
		for name, value := range try.fields {
			run(p, chromedp.SendKeys(chromedp.ID("try-"+try.operation+"-"+name), value))
		}
		p.click(article + "details.try button")
		p.shows(article+"details.try pre", try.want)
		if text := p.text(article + "details.try pre"); strings.Contains(text, adminToken) || !strings.Contains(text, url) {
			t.Errorf("%s shows %s", try.operation, text)
		}
	}
}
