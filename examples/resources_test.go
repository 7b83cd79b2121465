package examples_test

import (
	"crypto/sha256"
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	_ "modernc.org/sqlite"
)

// behind runs a command with the environment of a holder, or behind "mutex run" if there is none.
func behind(t *testing.T, topic, dir, stdin string, env []string, command ...string) result {
	t.Helper()
	if env == nil {
		command = append([]string{"mutex", "run", topic, "--"}, command...)
	}
	return run(t, dir, stdin, env, command[0], command[1:]...)
}

type file struct{ topic, path string }

func newFile(t *testing.T, topic string) resource {
	return &file{topic, filepath.Join(t.TempDir(), "index.html")}
}

func (f *file) write(t *testing.T, env []string, value string) result {
	return behind(t, f.topic, "", value, env, script(t, "file/publish.sh"), f.path)
}

func (f *file) read(t *testing.T) string {
	b, err := os.ReadFile(f.path)
	if err != nil {
		t.Error(err)
	}
	return string(b)
}

// database has one migration a write.
type database struct{ topic, dir string }

func newDatabase(t *testing.T, topic string) resource { return &database{topic, t.TempDir()} }

func (d *database) write(t *testing.T, env []string, value string) result {
	migration := filepath.Join(d.dir, value+".sql")
	statements := fmt.Sprintf("CREATE TABLE IF NOT EXISTS note (text);\nINSERT INTO note VALUES ('%s');\n", strings.ReplaceAll(value, "'", "''"))
	if err := os.WriteFile(migration, []byte(statements), 0o600); err != nil {
		t.Error(err)
	}
	return behind(t, d.topic, d.dir, "", env, "sqlite", "app.db", migration)
}

func (d *database) read(t *testing.T) string {
	db, err := sql.Open("sqlite", filepath.Join(d.dir, "app.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var value string
	if err := db.QueryRow("SELECT text FROM note ORDER BY rowid DESC").Scan(&value); err != nil {
		t.Error(err)
	}
	return value
}

// object is the in-test store that takes conditional requests.
type object struct {
	topic, url string

	mu    sync.Mutex // guards what follows, for the goroutines of requests
	there bool
	body  []byte
	fence string
}

func newObject(t *testing.T, topic string) resource {
	o := &object{topic: topic}
	server := httptest.NewServer(o)
	t.Cleanup(server.Close)
	o.url = server.URL + "/bucket/key"
	return o
}

func (o *object) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	tag := fmt.Sprintf(`"%x"`, sha256.Sum256(append([]byte(o.fence+"\n"), o.body...)))
	switch {
	case r.Method == http.MethodHead && !o.there:
		w.WriteHeader(http.StatusNotFound)
	case r.Method == http.MethodHead:
		w.Header().Set("ETag", tag)
		w.Header().Set("X-Amz-Meta-Fence", o.fence)
	case o.there && r.Header.Get("If-Match") != tag, !o.there && r.Header.Get("If-None-Match") != "*":
		w.WriteHeader(http.StatusPreconditionFailed)
	default:
		o.body, _ = io.ReadAll(r.Body)
		o.there, o.fence = true, r.Header.Get("X-Amz-Meta-Fence")
	}
}

func (o *object) write(t *testing.T, env []string, value string) result {
	return behind(t, o.topic, "", value, env, script(t, "s3/put.sh"), o.url)
}

func (o *object) read(*testing.T) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(o.body)
}

// repository is a bare one that clones push to.
type repository struct{ topic, path string }

func newRepository(t *testing.T, topic string) resource {
	path := filepath.Join(t.TempDir(), "remote.git")
	must(t, "", "git", "init", "-q", "--bare", path)
	return &repository{topic, path}
}

func (r *repository) write(t *testing.T, env []string, value string) result {
	clone := t.TempDir()
	must(t, clone, "git", "clone", "-q", r.path, ".")
	must(t, clone, "git", "config", "user.name", "test")
	must(t, clone, "git", "config", "user.email", "test@test.invalid")
	if err := os.WriteFile(filepath.Join(clone, "value"), []byte(value), 0o600); err != nil {
		t.Error(err)
	}
	must(t, clone, "git", "add", ".")
	return behind(t, r.topic, clone, "", env, script(t, "git/commit.sh"), "origin", "live", "a write")
}

func (r *repository) read(t *testing.T) string { return must(t, r.path, "git", "show", "live:value") }
