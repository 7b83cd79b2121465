package examples_test

import (
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// postgres is a database in a server of the test's own.
type postgres struct {
	topic string
	env   []string
}

// startPostgres starts a server that listens on nothing but a socket in its directory.
func startPostgres(t *testing.T) maker {
	dir, err := os.MkdirTemp("", "postgres") // not t.TempDir, which others may not enter
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	bin, as := postgresBin(t), unprivileged(t, dir)
	data := filepath.Join(dir, "data")
	pg(t, as, filepath.Join(bin, "initdb"), "-D", data, "-U", "test", "-A", "trust", "--no-sync")
	options := "-c listen_addresses='' -c fsync=off -k " + dir
	pg(t, as, filepath.Join(bin, "pg_ctl"), "-D", data, "-l", filepath.Join(dir, "log"), "-o", options, "-w", "start")
	t.Cleanup(func() { pg(t, as, filepath.Join(bin, "pg_ctl"), "-D", data, "-m", "immediate", "stop") })
	return func(t *testing.T, topic string) resource {
		p := &postgres{topic, []string{"PGHOST=" + dir, "PGUSER=test", "PGDATABASE=" + topic}}
		p.must(t, "createdb")
		p.must(t, "psql", "-q", "-f", "postgres/schema.sql")
		return p
	}
}

func (p *postgres) must(t *testing.T, name string, args ...string) string {
	t.Helper()
	r := run(t, "", "", p.env, name, args...)
	if r.code != 0 {
		t.Fatalf("%s: exit %d: %s", name, r.code, r.err)
	}
	return strings.TrimSuffix(r.out, "\n")
}

// postgresBin is where the programs of the server are.
func postgresBin(t *testing.T) string {
	t.Helper()
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path)
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		t.Fatal("PostgreSQL is missing: run examples/postgres/install.sh, or install the package postgresql")
	}
	return filepath.Dir(found[len(found)-1])
}

// unprivileged is whom the server runs as: it refuses to be root.
func unprivileged(t *testing.T, dir string) *syscall.Credential {
	t.Helper()
	if os.Getuid() != 0 {
		return nil
	}
	u, err := user.Lookup("nobody")
	if err != nil {
		t.Fatal(err)
	}
	uid, _ := strconv.ParseUint(u.Uid, 10, 32)
	gid, _ := strconv.ParseUint(u.Gid, 10, 32)
	if err := os.Chown(dir, int(uid), int(gid)); err != nil {
		t.Fatal(err)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

func pg(t *testing.T, as *syscall.Credential, program string, args ...string) {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as}
	log, err := os.CreateTemp(t.TempDir(), "log") // a file: the server keeps it open
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Run(); err != nil {
		said, _ := os.ReadFile(log.Name())
		t.Errorf("%s: %v: %s", program, err, said)
	}
}

func (p *postgres) write(t *testing.T, env []string, value string) result {
	command := append([]string{"env"}, append(p.env, script(t, "postgres/deploy.sh"), "staging", value)...)
	return behind(t, p.topic, "", "", env, command...)
}

func (p *postgres) read(t *testing.T) string {
	return p.must(t, "psql", "-qXAtc", "SELECT version FROM deploys WHERE target = 'staging'")
}
