package bench

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// latencies is a histogram of durations from 100 ns to ten minutes, right to three digits.
type latencies struct{ histogram *hdrhistogram.Histogram }

const (
	shortest = 100 * time.Nanosecond
	longest  = 10 * time.Minute
)

func newLatencies() latencies {
	return latencies{hdrhistogram.New(int64(shortest), int64(longest), 3)}
}

func (l latencies) record(d time.Duration) {
	_ = l.histogram.RecordValue(int64(min(d, longest))) // longest is in range
}

func (l latencies) merge(other latencies) { l.histogram.Merge(other.histogram) }

// percentile is the duration that p percent do not exceed.
func (l latencies) percentile(p float64) time.Duration {
	return time.Duration(l.histogram.ValueAtPercentile(p))
}

func (l latencies) count() int64 { return l.histogram.TotalCount() }

// readings are the percentiles that people ask for.
func (l latencies) readings() readings {
	return readings{
		{"p50", "µs", micros(l.percentile(50))},
		{"p90", "µs", micros(l.percentile(90))},
		{"p99", "µs", micros(l.percentile(99))},
		{"max", "µs", micros(time.Duration(l.histogram.Max()))},
	}
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
