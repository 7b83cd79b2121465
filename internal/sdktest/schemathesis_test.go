package sdktest_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	mutex "legible.sh/mutex"
)

// maxWait keeps a request that waits for what nobody gives back from using up the time there is.
const maxWait = "0.2"

// TestSchemathesis sends a live server whatever openapi.yaml allows and much of what it forbids, in every way that
// schemathesis knows, and has every answer held to the document. What is special is in schemathesis/schemathesis.toml.
func TestSchemathesis(t *testing.T) {
	tools := installed(t, "python/requirements.txt")
	url := serve(t, "--max-wait", maxWait)
	dir := t.TempDir()
	for _, name := range []string{"schemathesis.toml", "hooks.py"} {
		content, err := os.ReadFile(filepath.Join("schemathesis", name))
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name), content)
	}
	write(t, filepath.Join(dir, "openapi.yaml"), mutex.SpecYAML)

	budget := *seconds
	if testing.Short() {
		budget = 10
	}
	env := []string{"MUTEX_ADMIN_TOKEN=" + adminToken, "MUTEX_MAX_WAIT=" + maxWait, "PYTHONDONTWRITEBYTECODE=1"}
	out := tool(t, time.Duration(budget)*time.Second+2*time.Minute, dir, env,
		filepath.Join(tools, "python/venv/bin/schemathesis"), "--config-file", "schemathesis.toml", "run", "openapi.yaml",
		"--url", url, "--seed", strconv.Itoa(*seed), "--max-time", strconv.Itoa(budget))
	t.Log(out)
}
