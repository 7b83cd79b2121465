package secrettest_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	mutex "legible.sh/mutex"
	"legible.sh/mutex/internal/testlog"
)

// scene is a server with everything there is, and the secrets that its users have.
type scene struct {
	t                  *testing.T
	e                  *evidence
	s                  *server
	w                  *wire
	vars               []string // of a command's environment: the server, and tokens in files
	dir, data, policy  string
	admin, user, ci    string
	wrong              string // a token and a key that the server does not know
	adminFile, ciFile  string
	asUser, asCI, asAd []string // headers
}

func newScene(t *testing.T, format string) *scene {
	e, dir := newEvidence(t), t.TempDir()
	c := &scene{t: t, e: e, dir: dir, data: filepath.Join(dir, "data"), admin: e.plant("admin-token"),
		user: e.plant("user-token"), ci: e.plant("policy-token"), wrong: e.plant("wrong-token")}
	sum := sha256.Sum256([]byte(c.ci))
	c.policy = write(t, dir+"/policy.yaml", "tokens:", "  ci: sha256:"+hex.EncodeToString(sum[:]), "rules:",
		`  - topic: "prod:*"`, "    acquire: [ci]", "    read: [ci]", `  - topic: "try:*"`, "    acquire: anyone")
	c.adminFile, c.ciFile = write(t, dir+"/admin", c.admin), write(t, dir+"/ci", c.ci)
	spans := collector(t, e)
	c.s = serve(t, append(spans, "MUTEX_TOKEN="+c.user), "--log-format", format, "--data-dir", c.data, "--policy", c.policy,
		"--admin-token-file", c.adminFile, "--cors-origin", "https://friend.test")
	c.w = &wire{t: t, e: e, url: c.s.url, asked: make(map[string]bool)}
	c.vars = append(spans, "MUTEX_URL="+c.s.url, "MUTEX_TOKEN="+c.user, "MUTEX_ADMIN_TOKEN_FILE="+c.adminFile)
	c.asUser, c.asCI, c.asAd = bearing(c.user), bearing(c.ci), bearing(c.admin)
	return c
}

func bearing(token string, more ...string) []string {
	return append([]string{"Authorization", "Bearer " + token}, more...)
}

// TestSecretsAreNowhere is the whole of it; what it does is in the functions that follow.
func TestSecretsAreNowhere(t *testing.T) {
	for _, format := range []string{"text", "json"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			c := newScene(t, format)
			processes := watchProcesses(c.e)
			defer processes()
			c.locks()
			c.administration()
			c.pages()
			c.slips()
			c.agents()
			c.commands()
			c.directory()
			c.refusedPolicy()
			c.everyOperation()
			c.disk()
			c.s.stop(t)
			processes()
			c.e.directory(c.data, "mutex.jsonl")
			c.e.add("the server's log", c.s.log.String())
			c.lookedEverywhere()
			c.e.search()
		})
	}
}

// locks takes, keeps, checks and gives back, with others watching.
func (c *scene) locks() {
	w, key := c.w, func(k string) []string { return bearing(c.user, "Idempotency-Key", c.e.plant("key-"+k)) }
	w.watch("/try:a/sse")
	w.watch("/try:a", "Accept", "text/event-stream")
	w.watch("/prod:db/sse", c.asCI...)
	first := w.own("acquire", "POST", "/try:a?ttl=60&name=one", key("one")...)
	w.own("acquire", "POST", "/try:a?ttl=60&name=one", key("one")...) // again
	prod := w.own("acquire", "POST", "/prod:db", bearing(c.ci, "Idempotency-Key", c.e.plant("key-prod"))...)
	w.must("getTopic", "GET", "/try:a")
	w.must("getTopic", "GET", "/prod:db", c.asCI...)
	w.ask("POST", "/try:a?wait=0.1", key("late")...) // TIMEOUT, a place kept
	w.ask("POST", "/try:a", c.asUser...)             // BUSY
	w.ask("POST", "/try:a?capacity=2", c.asUser...)
	w.ask("POST", "/try:a?ttl=9", key("one")...) // KEY_REUSED
	w.must("release", "DELETE", "/try:a/-", key("late")...)
	w.ask("POST", "/try:a", key("late")...) // KEY_SPENT
	w.own("renew", "POST", "/try:a/"+first+"/renew")
	w.own("renew", "POST", "/prod:db/-/renew", append(c.asCI, "X-Lease", prod)...)
	w.must("checkLease", "GET", "/try:a/"+first)
	w.must("checkLease", "GET", "/try:a/-", "X-Lease", first)
	for _, lease := range []string{first, prod} { // in the place of another's
		for _, path := range []string{"/try:a/" + lease + "x", "/try:b/" + lease, "/try:b/" + lease + "/renew", "/try:a/" + lease + "/renew?ttl=x"} {
			w.ask("GET", path)
			w.ask("POST", path)
			w.ask("DELETE", path, c.asCI...)
		}
	}
	w.must("release", "DELETE", "/try:a/"+first)
	w.ask("DELETE", "/try:a/"+first)
	w.own("acquire", "POST", "/try:c?ttl=0.1", key("short")...)
	eventually(c.t, "it expires", func() bool { _, text := w.send("GET", "/try:c", ""); return strings.Contains(text, `"free"`) })
	w.ask("POST", "/try:c", key("short")...) // KEY_SPENT
}

// administration lists, breaks and forgets.
func (c *scene) administration() {
	w := c.w
	held := w.own("acquire", "POST", "/stuck?reason=why&host=h&pid=1", c.asUser...)
	w.must("getHistory", "GET", "/try:a/history?renewals=true")
	w.must("listTopics", "GET", "/-/topics", c.asAd...)
	w.must("listHistory", "GET", "/-/history?renewals=true&limit=1000", c.asAd...)
	w.must("forceRelease", "POST", "/stuck/force-release?dry_run=true", c.asAd...)
	w.must("forceRelease", "POST", "/stuck/force-release", c.asAd...)
	w.ask("POST", "/stuck/"+held+"/renew", c.asUser...) // lost
	w.must("prune", "POST", "/-/prune", c.asAd...)
	for _, path := range []string{"/-/topics", "/-/history", "/-/dashboard", "/prod:db", "/prod:db/history", "/prod:db/sse"} {
		w.ask("GET", path, bearing(c.wrong)...)
		w.ask("GET", path, "Authorization", "Basic "+c.wrong)
	}
}

// pages reads all that people and probes read.
func (c *scene) pages() {
	w, html := c.w, []string{"Accept", "text/html"}
	w.own("acquire", "POST", "/try:a?name=looked-at", "Idempotency-Key", c.e.plant("key-page"))
	for operation, path := range map[string]string{
		"getHelp": "/", "getReadme": "/README.md", "getLlms": "/llms.txt", "getSpecYaml": "/openapi.yaml", "getSpecJson": "/openapi.json",
		"getDocs": "/-/docs", "healthy": "/-/healthy", "ready": "/-/ready", "metrics": "/-/metrics",
	} {
		w.must(operation, "GET", path)
		w.ask("GET", path, html...)
	}
	w.ask("GET", "/", "Accept", "text/markdown")
	w.ask("GET", "/try:a", html...)
	w.ask("GET", "/prod:db", append(c.asCI, html...)...)
	w.ask("GET", "/-/dashboard", html...)
	w.must("getDashboard", "GET", "/-/dashboard", append(c.asAd, html...)...)
	cookie := w.signIn(c.admin)
	w.ask("GET", "/-/dashboard", append(html, "Cookie", cookie)...)
	w.ask("POST", "/-/sign-out", "Cookie", cookie, "Origin", w.url)
	status, text := w.send("POST", "/-/sign-in", "token="+c.wrong, "Content-Type", "application/x-www-form-urlencoded")
	c.e.add(fmt.Sprint("a sign-in that was answered ", status), text)
}

// slips puts secrets where they do not belong.
func (c *scene) slips() {
	w, key := c.w, c.e.plant("key-slip")
	lease := w.own("acquire", "POST", "/main", bearing(c.user, "Idempotency-Key", key)...)
	// A lease is known by its looks; of tokens and keys only the names can tell that they should not be sent back.
	for _, secret := range []string{lease, key, c.wrong, c.user} {
		acquire, read := []string{"lease", "token", "access_token", "Idempotency-Key", "X-Lease"}, []string{"token", "key"}
		if secret == lease {
			acquire = append(acquire, "ttl", "wait", "capacity", "pid", secret)
			read = append(read, "limit", "before", "since", "renewals", "state", "fence", "dry_run", secret)
		}
		for _, name := range acquire {
			w.ask("POST", "/main?"+name+"="+secret, c.asUser...)
			w.ask("POST", "/main/-/renew?"+name+"="+secret, bearing(c.user, "X-Lease", lease)...)
		}
		for _, name := range read {
			w.ask("GET", "/main/history?"+name+"="+secret)
			w.ask("GET", "/-/topics?"+name+"="+secret, c.asAd...)
			w.ask("GET", "/-/history?"+name+"="+secret, c.asAd...)
			w.ask("POST", "/main/force-release?dry_run=true&"+name+"="+secret, c.asAd...)
		}
		for _, path := range []string{"/main/" + secret, "/main/" + secret + "/renew", "/main/" + secret + "/x", "/main//" + secret, "/-/" + secret} {
			w.ask("POST", path)
			w.ask("GET", path)
			w.ask("PUT", path)
			w.ask("OPTIONS", path)
		}
		w.ask("POST", "/main", bearing(secret+"x")...)
		w.ask("POST", "/main", bearing(c.user, "Idempotency-Key", secret+" with a blank")...)
		if secret == lease {
			w.ask("POST", "/main", bearing(c.user, "X-Pid", secret)...)
		}
		w.ask("DELETE", "/main/-", bearing(c.user, "X-Lease", secret+"x")...)
		w.ask("DELETE", "/main/-", bearing(c.user, "X-Lease", strings.ToUpper(secret))...)
		w.ask("GET", "/main/sse?token="+secret, "Last-Event-ID", secret)
		w.ask("POST", "/main/"+secret+"/renew", "Origin", "https://evil.test")
		w.ask("POST", "/main/"+secret+"/renew", "Host", "evil.test")
		w.ask("OPTIONS", "/main/"+secret, "Origin", "https://friend.test", "Access-Control-Request-Method", "POST")
	}
}

// agents speak MCP, to the server and to the command.
func (c *scene) agents() {
	ci := &http.Client{Transport: tokenOf(c.ci)}
	use := func(where string, call func(string, map[string]any) string) {
		ask := func(tool string, args map[string]any) { c.e.add(where+"'s "+tool, call(tool, args)) }
		ask("acquire", map[string]any{"topic": "prod:kept-" + where})
		lease := c.e.granted(where+"'s acquire", call("acquire", map[string]any{"topic": "prod:own-" + where, "keep": false}))
		ask("acquire", map[string]any{"topic": "prod:own-" + where, "wait": 0})
		ask("held", map[string]any{})
		ask("status", map[string]any{"topic": "prod:own-" + where})
		ask("renew", map[string]any{"topic": "prod:kept-" + where})
		ask("release", map[string]any{"topic": "prod:kept-" + where})
		ask("release", map[string]any{"topic": "prod:kept-" + where, "lease": lease}) // another topic's
		ask("release", map[string]any{"topic": "prod:own-" + where, "lease": lease})
		ask("release", map[string]any{"topic": "prod:own-" + where, "lease": lease})
	}
	use("http", c.w.agent(&mcp.StreamableClientTransport{Endpoint: c.w.url + "/-/mcp", HTTPClient: ci, MaxRetries: -1}))
	cmd := command(c.t, append(c.vars, "MUTEX_TOKEN="+c.ci), "mutex", "mcp")
	words := &testlog.Buffer{}
	cmd.Stderr = words
	use("stdio", c.w.agent(&mcp.CommandTransport{Command: cmd}))
	c.e.add("what mutex mcp said", words.String())
}

// refusedPolicy has a file with a token in it refused, by the command and by the server that is asked to read it again.
func (c *scene) refusedPolicy() {
	write(c.t, c.policy, "tokens:", "  ci: "+c.ci, "rules:", "  - topic: "+c.wrong+"/", "    acquire: ["+c.user+"]")
	c.run(1, nil, "mutex", "policy", "check", c.policy)
	if err := c.s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		c.t.Fatal(err)
	}
	eventually(c.t, "the file is refused", func() bool { return strings.Contains(c.s.log.String(), "policy file refused") })
}

// everyOperation fails for those of the document that were never answered.
func (c *scene) everyOperation() {
	for _, m := range regexp.MustCompile(`(?m)^      operationId: (\w+)$`).FindAllStringSubmatch(string(mutex.SpecYAML), -1) {
		if !c.w.asked[m[1]] {
			c.t.Errorf("nobody asked for %s", m[1])
		}
	}
}

// disk looks at the files while the server runs, when the history's last events are in its log.
func (c *scene) disk() {
	last := c.w.own("acquire", "POST", "/try:last", "Idempotency-Key", c.e.plant("key-last"))
	c.w.must("release", "DELETE", "/try:last/"+last)
	eventually(c.t, "the history has it", func() bool {
		_, text := c.w.send("GET", "/try:last/history", "")
		var page struct{ Events []any }
		return json.Unmarshal([]byte(text), &page) == nil && len(page.Events) == 2
	})
	c.e.directory(c.data, "mutex.jsonl")
}

// lookedEverywhere fails where nothing was found to look at.
func (c *scene) lookedEverywhere() {
	for where, text := range map[string]string{
		"the server's log": "try:a", "the stream of /try:a/sse": "event: grant", "the stream of /prod:db/sse": "event: ",
		"a span": "{topic}", c.data + "/mutex.jsonl": "try:last", c.data + "/history.db": "looked-at", "the list of processes": "mutex run",
		"the answer 200 to GET /try:a": "<html", "the answer 200 to GET /-/dashboard": "<svg", "http's status": "prod:own-http",
		"stdout of mutex run": "MUTEX_FENCE=", "stdout of agentmutex run": "AGENTMUTEX_FENCE=",
	} {
		if !c.e.has(where, text) {
			c.t.Errorf("%s: no %q there", where, text)
		}
	}
}
