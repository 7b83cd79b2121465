package browsertest_test

import "testing"

// TestADashboardThatIsSignedInAgainSaysSo: a session ends and another begins in another tab, while the page stays.
func TestADashboardThatIsSignedInAgainSaysSo(t *testing.T) {
	url := serve(t)
	p := browse(t)
	p.signIn(url)
	p.shows("#link", "live")
	send := func(to, body string) {
		p.expect("401 (Unauthorized) (" + url + "/-/dashboard)") // to this, or to a refresh
		eval[bool](p, `void fetch("`+to+`", {method: "POST", body: new URLSearchParams("`+body+`")}), true`)
	}
	send("sign-out", "")
	p.shows("#link", "signed out")
	send("sign-in", "token="+adminToken)
	call(t, "POST", url+"/newcomer")
	p.shows("[data-part=topics]", "newcomer")
	p.shows("#link", "live")
}
