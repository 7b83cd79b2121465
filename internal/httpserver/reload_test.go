package httpserver_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"legible.sh/mutex/internal/httpserver"
	"legible.sh/mutex/internal/policy"
	"legible.sh/mutex/registry"
)

// TestWhoMayNoLongerReadIsToldNoMore: a stream that is open when new rules close the topic ends with the next heartbeat,
// and one that they leave open goes on.
func TestWhoMayNoLongerReadIsToldNoMore(t *testing.T) {
	s := start(t, func(o *httpserver.Options, _ *registry.Options, _ *policy.Options) {
		o.Heartbeat = 10 * time.Millisecond
	})
	watch := func(topic string) (ended <-chan struct{}) {
		r, err := http.NewRequestWithContext(t.Context(), "GET", s.URL+"/"+topic+"/sse", nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = answer.Body.Close() })
		over := make(chan struct{})
		go func() {
			defer close(over)
			_, _ = io.Copy(io.Discard, answer.Body)
		}()
		return over
	}
	closed, open := watch("secret:plan"), watch("plan")
	file := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(file, []byte("rules: [{topic: \"secret:*\", acquire: admin, read: admin}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.policy.Load(file); err != nil {
		t.Fatal(err)
	}
	select {
	case <-closed:
	case <-time.After(10 * time.Second):
		t.Error("the stream of a topic that may not be read any more goes on")
	}
	select {
	case <-open:
		t.Error("the stream of another topic has ended")
	default:
	}
}
