package secrettest_test

import (
	"os"
	"path/filepath"
	"strings"
)

// run runs one of our commands to its end; what it prints is evidence.
func (c *scene) run(code int, vars []string, program string, args ...string) result {
	c.t.Helper()
	return c.feed("", code, vars, program, args...)
}

// feed is run with something on stdin.
func (c *scene) feed(stdin string, code int, vars []string, program string, args ...string) result {
	c.t.Helper()
	r := c.owned(stdin, vars, program, args...)
	if r.code != code {
		c.t.Errorf("%s %v: exit %d, want %d: %s%s", program, args, r.code, code, r.out, r.err)
	}
	c.e.add("stdout of "+program+" "+args[0], r.out)
	return r
}

// owned is feed for a command whose stdout is its owner's.
func (c *scene) owned(stdin string, vars []string, program string, args ...string) result {
	c.t.Helper()
	cmd := command(c.t, append(c.vars, vars...), program, args...)
	cmd.Stdin = strings.NewReader(stdin)
	r := finish(c.t, cmd)
	c.e.add("stderr of "+program+" "+args[0], r.err)
	return r
}

// commands uses mutex with the lease in each of the places that it may have.
func (c *scene) commands() {
	grant := c.owned("", nil, "mutex", "acquire", "cli").out
	lease := c.e.granted("mutex acquire", grant)
	file := write(c.t, c.dir+"/grant", grant)
	env := []string{"MUTEX_LEASE=" + lease}
	for _, verb := range []string{"renew", "check"} {
		for _, r := range []result{
			c.owned("", nil, "mutex", verb, "cli", "--lease-file", file), c.owned("", env, "mutex", verb, "cli"),
			c.owned(lease+"\n", nil, "mutex", verb, "cli", "-"), c.owned(grant, nil, "mutex", verb, "cli", "--lease-file", "-"),
		} {
			if r.code != 0 {
				c.t.Errorf("%s: exit %d: %s", verb, r.code, r.err)
			}
			c.e.add("stdout of "+verb, strings.ReplaceAll(r.out, lease, ""))
		}
	}
	c.run(1, env, "mutex", "renew", "other")
	c.run(1, env, "mutex", "acquire", "cli", "--wait", "0.2")
	c.run(2, []string{"MUTEX_LEASE=" + c.wrong}, "mutex", "renew", "cli")
	c.run(2, nil, "mutex", "renew", "cli", "--lease-file", c.ciFile)
	c.run(1, append(env, "MUTEX_TOKEN="+c.wrong), "mutex", "release", "cli")
	c.run(3, append(env, "MUTEX_URL=http://127.0.0.1:1"), "mutex", "check", "cli")
	c.run(1, append(env, "MUTEX_URL=http://127.0.0.1:1"), "mutex", "run", "cli", "--wait", "0", "--", "true")
	c.run(1, append(env, "MUTEX_URL=http://me:"+c.wrong+"@127.0.0.1:1"), "mutex", "status", "cli")
	c.looks(env)
	c.runs(env)
	c.run(0, env, "mutex", "release", "cli")
	c.run(1, nil, "mutex", "release", "cli", "--lease-file", file)
	c.run(2, nil, "mutex", "serve", "--port", "0", "--token-file", open(c, c.user))
}

// open is a file with a secret that others may read, which is refused.
func open(c *scene, secret string) (path string) {
	path = write(c.t, c.dir+"/open", secret)
	if err := os.Chmod(path, 0o644); err != nil {
		c.t.Fatal(err)
	}
	return path
}

// looks uses what only looks, with a lease about.
func (c *scene) looks(env []string) {
	for _, args := range [][]string{
		{"status", "cli"}, {"status", "cli", "--exit-code"}, {"list"}, {"list", "--json"}, {"history"}, {"history", "cli", "--json"}, {"top"},
		{"force-release", "cli"}, {"prune"}, {"teach"}, {"fence", "check", c.dir + "/none"},
	} {
		r := c.owned("", env, "mutex", args...)
		c.e.add("stdout of mutex "+args[0], r.out)
	}
	c.run(0, []string{"MUTEX_TOKEN=", "MUTEX_TOKEN_FILE=" + c.ciFile}, "mutex", "status", "prod:db")
	c.run(1, []string{"MUTEX_TOKEN=" + c.wrong}, "mutex", "status", "prod:db")
	c.run(1, []string{"MUTEX_ADMIN_TOKEN_FILE=" + write(c.t, c.dir+"/wrong", c.wrong)}, "mutex", "list")
	c.run(0, nil, "mutex", "wait", "nobody-has-this")
}

// runs has commands say what they find in their environment and beside themselves.
func (c *scene) runs(env []string) {
	const look = `env | grep -v ^MUTEX_TOKEN=; tr '\0' ' ' < /proc/$PPID/cmdline`
	c.run(0, env, "mutex", "run", "work", "--no-export-lease", "--events", c.dir+"/events", "--", "sh", "-c", look)
	c.run(0, nil, "mutex", "run", "work", "more", "--no-export-lease", "--", "sh", "-c", look)
	r := c.owned("", nil, "mutex", "run", "work", "--", "sh", "-c", `echo "\"lease\":\"$MUTEX_LEASE\""`)
	c.e.granted("mutex run", r.out)
	c.run(75, nil, "mutex", "run", "work", "--ttl", "5", "--no-export-lease", "--on-lost", look, "--events", c.dir+"/events", "--",
		"sh", "-c", filepath.Join(bin, "mutex")+" force-release --yes work; exec sleep 30")
	c.run(1, nil, "mutex", "run", "cli", "--wait", "0.2", "--", "true")
	b, err := os.ReadFile(c.dir + "/events")
	if err != nil {
		c.t.Error(err)
	}
	c.e.add("the events of mutex run", string(b))
}

// directory does without a server.
func (c *scene) directory() {
	dir := filepath.Join(c.dir, "agentmutex")
	vars := []string{"AGENTMUTEX_DIR=" + dir, "MUTEX_URL=file://" + dir}
	lease := strings.TrimSpace(c.owned("", vars, "agentmutex", "acquire", "deploy:x").out)
	c.e.granted("agentmutex acquire", `"lease":"`+lease+`"`)
	env := append(vars, "AGENTMUTEX_TOKEN="+lease)
	file := write(c.t, c.dir+"/token", lease)
	own := func(stdin string, vars []string, args ...string) {
		c.t.Helper()
		r := c.owned(stdin, vars, "agentmutex", args...)
		if r.code != 0 {
			c.t.Errorf("%v: exit %d: %s", args, r.code, r.err)
		}
		c.e.add("stdout of agentmutex "+args[0], strings.ReplaceAll(r.out, lease, ""))
	}
	own("", vars, "renew", "--token-file", file, "deploy:x")
	own("", env, "renew", "deploy:x")
	own(lease, vars, "check", "--token-file", "-", "deploy:x")
	for _, args := range [][]string{{"status", "deploy:x"}, {"list"}, {"history"}, {"top"}, {"force-release", "deploy:x"}, {"prune"}} {
		c.run(0, env, "agentmutex", args...)
	}
	c.run(10, env, "agentmutex", "acquire", "--no-wait", "deploy:x")
	c.run(10, vars, "agentmutex", "run", "--no-wait", "deploy:x", "--", "true")
	c.run(13, env, "agentmutex", "release", "deploy:y")
	c.run(12, append(vars, "AGENTMUTEX_TOKEN="+c.wrong), "agentmutex", "renew", "deploy:x")
	const look = `env | grep -v ^MUTEX_TOKEN=; tr '\0' ' ' < /proc/$PPID/cmdline`
	c.run(0, vars, "agentmutex", "run", "deploy:y", "--", "sh", "-c", look)
	r := c.owned("", vars, "agentmutex", "run", "--export-token", "deploy:y", "--", "sh", "-c",
		`echo "\"lease\":\"$AGENTMUTEX_TOKEN\""; ls -R `+dir+`; cat `+dir+`/locks/*/*`)
	c.e.granted("agentmutex run", r.out)
	c.e.granted("mutex in a directory", c.owned("", vars, "mutex", "acquire", "deploy:z").out)
	c.run(0, vars, "mutex", "status", "deploy:z")
	c.e.directory(dir, "")
	own("", env, "release", "deploy:x")
	c.run(13, env, "agentmutex", "release", "deploy:x")
	c.e.directory(dir, "")
}
