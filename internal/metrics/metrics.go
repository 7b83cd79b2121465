// Package metrics counts what the server does, for Prometheus.
//
// It owns the collectors and no goroutine. All methods are safe for concurrent use and cheap enough for the hot path:
// a few atomic additions. No metric ever names a topic, a holder, a lease or a token: names are capabilities, and labels
// live for ever.
package metrics

import (
	"maps"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"legible.sh/mutex/internal/lease"
)

// Metrics are the server's figures.
type Metrics struct {
	registry *prometheus.Registry

	requests  *prometheus.CounterVec
	durations *prometheus.HistogramVec
	byRequest atomic.Pointer[map[requestKey]request] // finding a labelled collector anew costs more than counting
	adding    sync.Mutex                             // to byRequest, by replacing the map with a larger one
	watchers  prometheus.Gauge

	grants  prometheus.Counter
	renewed prometheus.Counter
	ends    map[lease.Kind]prometheus.Counter
	left    map[lease.Cause]prometheus.Counter
	waits   prometheus.Histogram
	holds   prometheus.Histogram

	commitRecords prometheus.Histogram
	commitBytes   prometheus.Counter
	commitSeconds prometheus.Histogram
}

type requestKey struct {
	pattern string
	status  int
}

type request struct {
	count    prometheus.Counter
	duration prometheus.Observer
}

// Buckets, in seconds: requests and waits from a tenth of a millisecond to five minutes, the longest wait; holds up to a
// day; commits from a fast disk's to a stuck one's.
var (
	durations = []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 5, 30, 60, 300}
	holds     = []float64{.01, .1, 1, 5, 15, 60, 300, 900, 3600, 14400, 86400}
	commits   = []float64{.00005, .0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .5, 1, 5}
)

// New makes the collectors, Go's own among them.
func New() *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "mutex_http_requests_total", Help: "Requests answered, by route and status.",
		}, []string{"route", "code"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "mutex_http_request_duration_seconds", Buckets: durations,
			Help: "Time from a request's header to its answer, by route; a long poll's wait included.",
		}, []string{"route"}),
		watchers:      gauge("mutex_watchers", "Event streams that are open."),
		grants:        counter("mutex_grants_total", "Leases granted."),
		renewed:       counter("mutex_renewals_total", "Leases renewed."),
		waits:         histogram("mutex_wait_seconds", "How long grants had waited in a queue; those that did not wait are left out.", durations),
		holds:         histogram("mutex_hold_seconds", "How long leases were held, however they ended.", holds),
		commitRecords: histogram("mutex_journal_commit_records", "Records in one commit of the journal.", prometheus.ExponentialBuckets(1, 2, 12)),
		commitBytes:   counter("mutex_journal_written_bytes_total", "Bytes written to the journal by commits."),
		commitSeconds: histogram("mutex_journal_commit_seconds", "How long a commit of the journal took, its sync included.", commits),
	}
	ends := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "mutex_lease_ends_total", Help: "Leases that ended, by how: released, expired or forced.",
	}, []string{"how"})
	m.byRequest.Store(new(map[requestKey]request))
	m.ends = map[lease.Kind]prometheus.Counter{
		lease.Released: ends.WithLabelValues("released"), lease.Expired: ends.WithLabelValues("expired"),
		lease.Forced: ends.WithLabelValues("forced"),
	}
	left := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "mutex_waits_ended_total", Help: "Waits that ended without a grant, by why.",
	}, []string{"why"})
	m.left = make(map[lease.Cause]prometheus.Counter)
	for why, label := range map[lease.Cause]string{
		lease.TimedOut: "timed_out", lease.Abandoned: "abandoned", lease.GaveUp: "gave_up", lease.Lapsed: "lapsed",
	} {
		m.left[why] = left.WithLabelValues(label)
	}
	m.registry.MustRegister(
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		m.requests, m.durations, m.watchers, m.grants, m.renewed, ends, left, m.waits, m.holds,
		m.commitRecords, m.commitBytes, m.commitSeconds,
	)
	return m
}

func counter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
}

func gauge(name, help string) prometheus.Gauge {
	return prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
}

func histogram(name, help string, buckets []float64) prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets})
}

// Gauge adds a figure that is read when it is asked for.
func (m *Metrics) Gauge(name, help string, read func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, read))
}

// Counter adds a figure that only rises, read when it is asked for.
func (m *Metrics) Counter(name, help string, read func() float64) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, read))
}

// Handler serves the figures.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// Request counts one request by the pattern of its route.
func (m *Metrics) Request(pattern string, status int, took time.Duration) {
	r, ok := (*m.byRequest.Load())[requestKey{pattern, status}]
	if !ok {
		r = m.addRequest(pattern, status)
	}
	r.count.Inc()
	r.duration.Observe(took.Seconds())
}

// addRequest makes the collectors of requests that had none. Patterns and statuses are few.
func (m *Metrics) addRequest(pattern string, status int) request {
	m.adding.Lock()
	defer m.adding.Unlock()
	op := pattern
	if op == "" || op == "/" {
		op = "none"
	}
	r := request{m.requests.WithLabelValues(op, strconv.Itoa(status)), m.durations.WithLabelValues(op)}
	larger := map[requestKey]request{{pattern, status}: r}
	maps.Copy(larger, *m.byRequest.Load())
	m.byRequest.Store(&larger)
	return r
}

// Watchers counts streams that open and close.
func (m *Metrics) Watchers(change int) { m.watchers.Add(float64(change)) }

// Observe counts what happened on a topic. It keeps nothing of the slice.
func (m *Metrics) Observe(_ lease.Topic, events []lease.Event) {
	for i := range events {
		switch e := &events[i]; e.Kind {
		case lease.Granted:
			m.grants.Inc()
			if !e.Enqueued.IsZero() {
				m.waits.Observe(between(e.Enqueued, e.At))
			}
		case lease.Renewed:
			m.renewed.Inc()
		case lease.Released, lease.Expired, lease.Forced:
			m.ends[e.Kind].Inc()
			m.holds.Observe(between(e.Since, e.At))
		case lease.Left:
			if c := m.left[e.Cause]; c != nil {
				c.Inc()
			}
		}
	}
}

// between gives seconds. A wall clock that was set back meanwhile must not make them negative: the sums would fall.
func between(from, to time.Time) float64 { return max(0, to.Sub(from).Seconds()) }

// Commit counts one commit of the journal.
func (m *Metrics) Commit(records, bytes int, took time.Duration) {
	m.commitRecords.Observe(float64(records))
	m.commitBytes.Add(float64(bytes))
	m.commitSeconds.Observe(took.Seconds())
}
