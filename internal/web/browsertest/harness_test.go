// Package browsertest_test looks at the pages in headless Chromium: whether they stay current, whether they can be
// used without mouse, eyes or script, and whether anything in them runs that should not. It has no other code.
//
// It needs chromium and axe-core, which make tools installs. Screenshots for the docs come from the same tests:
//
//	go test ./internal/web/browsertest -run TestScreenshots -screenshots ../../../docs/img
package browsertest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"legible.sh/mutex/internal/app/apptest"
)

const adminToken = "admin-token-of-the-browser-tests"

// serve runs a whole server on a free port of loopback until the test ends. Settings are pairs of variable and value.
func serve(t *testing.T, settings ...string) string {
	t.Helper()
	env := map[string]string{"MUTEX_ADMIN_TOKEN": adminToken}
	for i := 0; i < len(settings); i += 2 {
		env[settings[i]] = settings[i+1]
	}
	return apptest.Serve(t, env)
}

// call sends a request and gives the fields of its answer. Headers come in pairs.
func call(t *testing.T, method, url string, headers ...string) map[string]any {
	t.Helper()
	fields, status := ask(t, method, url, headers...)
	if status != http.StatusOK {
		t.Fatalf("%s %s: %d %v", method, url, status, fields)
	}
	return fields
}

func ask(t *testing.T, method, url string, headers ...string) (map[string]any, int) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(b, &fields); err != nil {
		t.Fatalf("%s %s: %d %q", method, url, res.StatusCode, b)
	}
	return fields, res.StatusCode
}

// queue waits for a topic until the test ends.
func queue(t *testing.T, url string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"&wait=300", nil)
	if err != nil {
		t.Fatal(err)
	}
	topic, _, _ := strings.Cut(url, "?")
	before := waiting(t, topic)
	ended := make(chan struct{})
	go func() { // ends with ctx, in the cleanup
		defer close(ended)
		if res, err := http.DefaultClient.Do(r); err == nil {
			_ = res.Body.Close()
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	eventually(t, "the waiter stands in the queue", func() bool { return waiting(t, topic) > before })
}

func waiting(t *testing.T, topic string) int {
	t.Helper()
	return int(call(t, http.MethodGet, topic)["waiting"].(float64))
}

// eventually waits for something that somebody else brings about.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(60 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

// tool finds a program that the tests cannot do without.
func tool(t *testing.T, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatalf("%s is missing: run make tools, or install it", names[0])
	return ""
}

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("a string does not encode: %v", err))
	}
	return string(b)
}
