package httpserver_test

import (
	"slices"
	"testing"

	"legible.sh/mutex/internal/httpserver"
	"legible.sh/mutex/internal/policy"
	"legible.sh/mutex/registry"
)

// TestWhatDependsOnTheOriginSaysSo: a cache must not give one origin's answer to another, however many headers it
// depends on.
func TestWhatDependsOnTheOriginSaysSo(t *testing.T) {
	s := start(t, func(o *httpserver.Options, _ *registry.Options, _ *policy.Options) {
		o.CORSOrigins = []string{"https://friend.test"}
	})
	for path, wants := range map[string][]string{
		"/t": {"Accept", "Origin"}, "/": {"Accept", "Origin"}, "/-/dashboard": {"Accept", "Origin"}, "/-/healthz": {"Origin"},
	} {
		for _, origin := range []string{"https://friend.test", "https://other.test"} {
			a := s.call(t, "GET", path, "Origin", origin)
			for _, want := range wants {
				if !slices.Contains(a.header["Vary"], want) {
					t.Errorf("%s, asked from %s: %d, Vary %q lacks %s", path, origin, a.status, a.header["Vary"], want)
				}
			}
		}
	}
}
