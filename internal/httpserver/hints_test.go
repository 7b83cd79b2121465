package httpserver_test

import (
	"strings"
	"testing"
	"time"

	"legible.sh/mutex/internal/httpserver"
	"legible.sh/mutex/internal/policy"
	"legible.sh/mutex/registry"
)

// TestHintsSayWhatToSendInstead makes the slips that people make first, and reads what they are told.
func TestHintsSayWhatToSendInstead(t *testing.T) {
	s := start(t, nil)
	s.acquire(t, "/gpu?capacity=2")
	for _, c := range []struct{ method, path, want string }{
		{"POST", "/deploy/staging?ttl=60", "A topic has no slash"},
		{"DELETE", "/gpu", "DELETE /{topic}/{lease}"},
		{"PUT", "/gpu", "Use one of: GET, HEAD, POST, OPTIONS."},
		{"POST", "/gpu?capacity=3", "capacity=2"},
		{"POST", "/gpu?tll=5", "tll: send ttl (there are: ttl, "},
		{"POST", "/gpu?capazity=5", "capazity: send capacity (there are: "},
		{"POST", "/gpu?wit=5", "wit: send wait (there are: "},
		{"POST", "/gpu?Idempotency-Key=s3cr3t", "Idempotency-Key: send it as the header Idempotency-Key, not in the query"},
		{"POST", "/gpu?idempotency_key=s3cr3t", "as the header Idempotency-Key"},
		{"POST", "/gpu/-/renew?lease=s3cr3t", "as the header X-Lease"},
		{"GET", "/-/topics?token=s3cr3t", "as the header Authorization: Bearer"},
		{"GET", "/-/topics", "MUTEX_ADMIN_TOKEN"},
		{"POST", "/gpu/force-release", "MUTEX_ADMIN_TOKEN"},
		{"POST", "/-/prune", "the admin token"},
		{"GET", "/a/b/c", "/openapi.yaml"},
	} {
		a := s.call(t, c.method, c.path)
		if told := a.str("error") + " " + a.str("hint"); !strings.Contains(told, c.want) {
			t.Errorf("%s %s: got %q, want %q", c.method, c.path, told, c.want)
		}
		if strings.Contains(a.text, "s3cr3t") {
			t.Errorf("%s %s sends a secret back: %s", c.method, c.path, a.text)
		}
	}
}

// TestALimitOfOneIsNoRange where a policy allows mutexes alone.
func TestALimitOfOneIsNoRange(t *testing.T) {
	s := start(t, func(_ *httpserver.Options, _ *registry.Options, p *policy.Options) { p.Limits.MaxCapacity = 1 })
	if a := s.call(t, "POST", "/gpu?capacity=2"); a.status != 400 || !strings.HasSuffix(a.str("error"), "capacity: send 1, the only one allowed here") {
		t.Error(a.status, a.text)
	}
}

// TestOnlyReleaseOffersToGiveUp: a key in place of the lease means something to DELETE alone.
func TestOnlyReleaseOffersToGiveUp(t *testing.T) {
	s := start(t, nil)
	for _, c := range []struct{ method, path, want string }{
		{"GET", "/gpu/-", "because the path has - for it"},
		{"POST", "/gpu/-/renew", "because the path has - for it"},
		{"DELETE", "/gpu/-", "because the path has - for it; or, to give up, an Idempotency-Key"},
	} {
		if a := s.call(t, c.method, c.path); a.status != 400 || !strings.HasSuffix(a.str("error"), c.want) {
			t.Errorf("%s %s: %d %s", c.method, c.path, a.status, a.text)
		}
	}
}

// TestAnOrdinaryTokenIsAskedForAsSuch: where any known token will do, the admin's is not asked for.
func TestAnOrdinaryTokenIsAskedForAsSuch(t *testing.T) {
	s := start(t, func(_ *httpserver.Options, _ *registry.Options, p *policy.Options) { p.Tokens = []string{"known"} })
	a := s.call(t, "POST", "/a")
	if hint := a.str("hint"); a.str("code") != "UNAUTHORIZED" || strings.Contains(hint, "ADMIN") {
		t.Errorf("%s", a.text)
	}
}

// TestARefusedTokenIsTalkedAbout: who sent one is not told to send one, and never reads it in the answer.
func TestARefusedTokenIsTalkedAbout(t *testing.T) {
	s := start(t, func(_ *httpserver.Options, _ *registry.Options, p *policy.Options) {
		p.Tokens, p.AdminToken = []string{"known"}, "adm1n"
	})
	for _, call := range []struct{ method, path, without string }{
		{"POST", "/a", "this needs a token that is known here"}, {"GET", "/-/topics", "this needs the admin token"},
	} {
		for sent, want := range map[string]string{
			"":               "",
			"Bearer unkn0wn": "; the one that was sent is not",
			"bearer unkn0wn": "; the one that was sent is not",
			"unkn0wn":        "; the header Authorization has no Bearer <token> in it",
			"Basic unkn0wn":  "; the header Authorization has no Bearer <token> in it",
			"Bearer ":        "; the header Authorization has no Bearer <token> in it",
		} {
			var header []string
			if sent != "" {
				header = []string{"Authorization", sent}
			}
			a := s.call(t, call.method, call.path, header...)
			if a.status != 401 || a.str("error") != call.without+want || strings.Contains(a.text, "unkn0wn") {
				t.Errorf("%s %s with %q: %d %s", call.method, call.path, sent, a.status, a.text)
			}
		}
	}
}

// TestBusyNamesAWaitThatIsAllowed: in its hint and in next, which leads on when followed.
func TestBusyNamesAWaitThatIsAllowed(t *testing.T) {
	for _, c := range []struct {
		longest      time.Duration
		hint, follow string
	}{
		{time.Hour, "Repeat with wait=300 to queue, or after", "/a?ttl=30&wait=300"},
		{5 * time.Minute, "Repeat with wait=300 to queue, or after", "/a?ttl=30&wait=300"},
		{1500 * time.Millisecond, "Repeat with wait=1.5 to queue, or after", "/a?ttl=30&wait=1.5"},
		{0, "Repeat after retry_after seconds.", "/a?ttl=30&wait=0"},
	} {
		s := start(t, func(_ *httpserver.Options, _ *registry.Options, p *policy.Options) { p.Limits.MaxWait = c.longest })
		lease, _ := s.acquire(t, "/a")
		busy := s.call(t, "POST", "/a?ttl=30&wait=0")
		follow := busy.json["next"].(map[string]any)["path"].(string)
		if !strings.HasPrefix(busy.str("hint"), c.hint) || follow != c.follow {
			t.Errorf("up to %v: %s", c.longest, busy.text)
		}
		s.call(t, "DELETE", "/a/"+lease)
		if a := s.call(t, "POST", follow); a.status != 200 {
			t.Errorf("up to %v: %s: %s", c.longest, follow, a.text)
		}
	}
}
