package metrics_test

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"legible.sh/mutex/internal/lease"
	"legible.sh/mutex/internal/metrics"
)

func scrape(t *testing.T, m *metrics.Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	return w.Body.String()
}

// TestFigures lets one of everything happen, and looks for it in what Prometheus would read.
func TestFigures(t *testing.T) {
	m := metrics.New()
	now := time.Now()
	m.Observe("secret-topic", []lease.Event{
		{Kind: lease.Granted, At: now, Since: now, Who: lease.Who{Name: "secret-name"}},
		{Kind: lease.Granted, At: now, Since: now, Enqueued: now.Add(-2 * time.Second)},
		{Kind: lease.Renewed, At: now},
		{Kind: lease.Released, At: now, Since: now.Add(-3 * time.Second)},
		{Kind: lease.Expired, At: now, Since: now.Add(-time.Minute)},
		{Kind: lease.Forced, At: now, Since: now},
		{Kind: lease.Left, Cause: lease.TimedOut},
		{Kind: lease.Left, Cause: lease.Lapsed},
	})
	m.Request("POST /{topic}", 200, time.Millisecond)
	m.Request("POST /{topic}", 409, time.Millisecond)
	m.Request("", 404, time.Millisecond)
	m.Watchers(+2)
	m.Watchers(-1)
	m.Commit(3, 600, time.Millisecond)
	m.Gauge("mutex_topics", "Topics that live.", func() float64 { return 7 })
	text := scrape(t, m)
	for _, want := range []string{
		"mutex_grants_total 2", "mutex_renewals_total 1", `mutex_lease_ends_total{how="released"} 1`,
		`mutex_lease_ends_total{how="expired"} 1`, `mutex_lease_ends_total{how="forced"} 1`,
		`mutex_waits_ended_total{why="timed_out"} 1`, `mutex_waits_ended_total{why="lapsed"} 1`,
		"mutex_wait_seconds_sum 2", "mutex_wait_seconds_count 1", "mutex_hold_seconds_sum 63", "mutex_hold_seconds_count 3",
		`mutex_http_requests_total{code="409",route="POST /{topic}"} 1`, `mutex_http_requests_total{code="404",route="none"} 1`,
		"mutex_watchers 1", "mutex_journal_written_bytes_total 600", "mutex_journal_commit_records_sum 3", "mutex_topics 7",
		"go_goroutines",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(text, "secret") {
		t.Error("a name is told")
	}
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if strings.HasPrefix(p.Metric, "mutex_") {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
}

func BenchmarkRequest(b *testing.B) {
	m := metrics.New()
	b.ReportAllocs()
	for b.Loop() {
		m.Request("POST /{topic}", 200, time.Millisecond)
	}
}

// TestAClockThatIsSetBackTakesNothingAway: a sum that falls reads as a restart to Prometheus, which then takes all of it
// for new.
func TestAClockThatIsSetBackTakesNothingAway(t *testing.T) {
	m := metrics.New()
	now := time.Now()
	m.Observe("t", []lease.Event{
		{Kind: lease.Granted, At: now, Since: now, Enqueued: now.Add(-2 * time.Second)},
		{Kind: lease.Released, At: now, Since: now.Add(-3 * time.Second)},
		{Kind: lease.Granted, At: now, Since: now, Enqueued: now.Add(time.Hour)},
		{Kind: lease.Released, At: now, Since: now.Add(time.Hour)},
	})
	text := scrape(t, m)
	for _, want := range []string{
		"mutex_wait_seconds_sum 2\n", "mutex_wait_seconds_count 2\n", "mutex_hold_seconds_sum 3\n", "mutex_hold_seconds_count 2\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
}
