package browsertest_test

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestATopicPageStaysCurrent: what happens to a topic stands on its page without a reload.
func TestATopicPageStaysCurrent(t *testing.T) {
	url := serve(t)
	p := browse(t)
	p.open(url + "/deploy:staging")
	p.shows("#link", "live")
	p.shows("h1", "free")
	eval[bool](p, `window.sameDocument = true`)

	grant := p.after("a grant", "POST", url+"/deploy:staging?ttl=60&name=worker-3&reason=release+1.8&host=ci-7&pid=4711", "h1", "held")
	p.shows("[data-part=holders]", "worker-3")
	p.shows("[data-part=holders]", "release 1.8")
	p.shows("[data-part=holders]", "ci-7, pid 4711")
	p.shows("[data-part=holders]", "not renewed yet")
	p.shows("[data-part=events]", "granted")

	queue(t, url+"/deploy:staging?name=nightly")
	p.shows("[data-part=queue]", "nightly")

	p.after("a renewal", "POST", grant["renew"].(string), "[data-part=holders]", "alive")
	p.after("a release", "DELETE", grant["release"].(string), "[data-part=holders]", "nightly")
	p.shows("[data-part=queue]", "Nobody waits")
	p.shows("[data-part=events]", "released")

	p.after("a short grant", "POST", url+"/short?ttl=60&name=other", "h1", "held") // on another topic: nothing changes here
	if !eval[bool](p, `window.sameDocument === true`) {
		t.Error("the page was loaded anew")
	}
	title := eval[string](p, `document.title`)
	if !strings.Contains(title, "held: deploy:staging") {
		t.Errorf("the title is %q", title)
	}
	if said := p.text("#said"); !strings.Contains(eval[string](p, `document.getElementById("said").textContent`), "held by nightly") {
		t.Errorf("read out is %q", said)
	}
}

// TestAnExpiryShowsByItself: nobody says a word, and the page still knows that a holder fell silent, and then ended.
func TestAnExpiryShowsByItself(t *testing.T) {
	url := serve(t)
	p := browse(t)
	call(t, "POST", url+"/job?ttl=3&name=sleeper")
	p.open(url + "/job")
	p.shows("[data-part=holders]", "sleeper")
	p.shows("[data-part=holders]", "silent")
	p.shows("h1", "free")
	p.shows("[data-part=events]", "expired")
}

// after does something and tells, in the log of the test, how long the page took to show it.
func (p *page) after(what, method, url, selector, text string) map[string]any {
	p.t.Helper()
	answer := call(p.t, method, url)
	start := time.Now()
	p.shows(selector, text)
	p.t.Logf("%s stands on the page after %v", what, time.Since(start).Round(time.Millisecond))
	return answer
}

// TestHostileNames: a name is text from a stranger.
func TestHostileNames(t *testing.T) {
	url := serve(t)
	p := browse(t)
	const name = `<img src=x onerror=window.hit=1>"'><script>window.hit=1</script>`
	escaped := strings.NewReplacer("<", "%3C", ">", "%3E", `"`, "%22", " ", "%20", "=", "%3D").Replace(name)
	call(t, "POST", url+"/a?name="+escaped+"&reason="+escaped+"&host="+escaped)
	queue(t, url+"/a?name="+escaped+"&reason="+escaped)
	p.open(url + "/a")
	p.shows("[data-part=holders]", name)
	p.shows("[data-part=queue]", name)
	p.shows("[data-part=events]", name)
	call(t, "POST", url+"/a/force-release?name="+escaped, "Authorization", "Bearer "+adminToken)
	p.shows("[data-part=events]", "by "+name)
	p.signIn(url)
	p.shows("[data-part=topics]", name)
	if eval[bool](p, `"hit" in window || document.querySelectorAll("main img, main script").length > 0`) {
		t.Error("a name became markup")
	}
}

// TestAHiddenPageGivesItsStreamBack, since a browser has few connections to a server.
func TestAHiddenPageGivesItsStreamBack(t *testing.T) {
	url := serve(t)
	p := browse(t)
	p.open(url + "/a")
	watchers := func(want string) func() bool {
		return func() bool { return strings.Contains(metrics(t, url), "\nmutex_watchers "+want+"\n") }
	}
	eventually(t, "the page watches", watchers("1"))
	p.hide(true)
	eventually(t, "a hidden page watches no more", watchers("0"))
	call(t, "POST", url+"/a?name=meanwhile")
	p.hide(false)
	p.shows("[data-part=holders]", "meanwhile")
	eventually(t, "the page watches again", watchers("1"))
	p.open(url + "/")
	eventually(t, "a page that was left watches no more", watchers("0"))
}

// hide makes the page believe that its tab went to the back, or came to the front.
func (p *page) hide(hidden bool) {
	p.t.Helper()
	state := map[bool]string{true: "true", false: "false"}[hidden]
	eval[bool](p, `Object.defineProperty(document, "hidden", { value: `+state+`, configurable: true });
		document.dispatchEvent(new Event("visibilitychange"))`)
}

func metrics(t *testing.T, url string) string {
	t.Helper()
	res, err := http.Get(url + "/-/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestAPageFindsItsServerAgain after the server was away.
func TestAPageFindsItsServerAgain(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	var url string
	p := browse(t)
	p.expect("ERR_CONNECTION_REFUSED")
	p.expect("ERR_INCOMPLETE_CHUNKED_ENCODING")
	t.Run("first", func(t *testing.T) {
		url = serve(t, "MUTEX_PORT", port)
		p.open(url + "/a")
		p.shows("#link", "live")
	})
	p.shows("#link", "connection lost")
	serve(t, "MUTEX_PORT", port)
	call(t, "POST", url+"/a?name=after")
	p.shows("#link", "live")
	p.shows("[data-part=holders]", "after")
}
