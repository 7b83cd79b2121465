package history_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"legible.sh/mutex/internal/history"
	"legible.sh/mutex/internal/lease"
)

// BenchmarkObserve is what history costs a lock: events copied into the queue, the writer beside it.
func BenchmarkObserve(b *testing.B) {
	s := open(b, history.Options{Path: path(b)})
	turn := []lease.Event{after(granted(1), 0, lease.Released), granted(2)}
	b.ReportAllocs()
	for b.Loop() {
		s.Observe("deploy", turn)
	}
}

// BenchmarkMemoryObserve is what an event costs a lock where the history is in memory: there is no writer beside it.
func BenchmarkMemoryObserve(b *testing.B) {
	for _, topics := range []int{1, 64, 10_000} {
		b.Run(fmt.Sprintf("topics=%d", topics), func(b *testing.B) {
			h := history.NewMemory(history.MemoryOptions{})
			names := make([]lease.Topic, topics)
			for i := range names {
				names[i] = lease.Topic(fmt.Sprintf("topic-%d", i))
			}
			turn := []lease.Event{granted(1)}
			for n := range 400_000 { // until it is full
				h.Observe(names[n*7919%topics], turn)
			}
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				n++
				h.Observe(names[n*7919%topics], turn)
			}
		})
	}
}

// BenchmarkMemoryRead reads a history in memory that is full.
func BenchmarkMemoryRead(b *testing.B) {
	h := history.NewMemory(history.MemoryOptions{})
	fill(b, h, million)
	read(b, h, million)
}

// BenchmarkWrite is what an event costs the writer, all told.
func BenchmarkWrite(b *testing.B) {
	for _, topics := range []int{16, 10_000} {
		b.Run(fmt.Sprintf("topics=%d", topics), func(b *testing.B) {
			s := open(b, history.Options{Path: path(b)})
			names := make([]lease.Topic, topics)
			for i := range names {
				names[i] = lease.Topic(fmt.Sprintf("topic-%d", i))
			}
			const batch = 4096
			var turn [1]lease.Event
			b.ReportAllocs()
			b.ResetTimer()
			for n := 0; n < b.N; n += batch {
				for i := range batch {
					turn[0] = granted((n + i) % 86400)
					s.Observe(names[(n+i)*7919%topics], turn[:])
				}
				flush(b, s)
			}
			b.StopTimer()
			if st := s.Stats(); st.Dropped > 0 {
				b.Fatalf("%+v", st)
			}
		})
	}
}

// million is the size of the large history.
const million = 1_000_000

// fill writes n events as a server with 1,000 topics would: six of ten are renewals, one topic is busy, one rare,
// and one is held and renewed from the first event to the last.
func fill(b *testing.B, s past, n int) {
	names := make([]lease.Topic, 1000)
	for i := range names {
		names[i] = lease.Topic(fmt.Sprintf("ci:job-%d", i))
	}
	begin := time.Now().Add(-20 * 24 * time.Hour)
	step := 20 * 24 * time.Hour / time.Duration(n)
	held := granted(0)
	var turn [1]lease.Event
	for i := range n {
		e := granted(i % 1000)
		e.Who.Name = fmt.Sprintf("worker-%d", i%5000)
		e.At = begin.Add(time.Duration(i) * step)
		e.Since, e.Enqueued = e.At.Add(-time.Duration(i%977)*time.Millisecond), e.At.Add(-time.Duration(i%389)*time.Millisecond)
		topic := names[i*7919%1000]
		switch i % 10 {
		case 0:
			topic = "busy"
		case 1:
			e.Kind = lease.Released
		case 2, 3, 4, 5, 6:
			e.Kind = lease.Renewed
		case 7:
			topic, e.Kind, e.Token, e.Fence = "held", lease.Renewed, held.Token, 1
			if i == 7 {
				e.Kind = lease.Granted
			}
		}
		if i%(n/25) == 0 {
			topic = "rare"
		}
		turn[0] = e
		s.Observe(topic, turn[:])
		if i%4096 == 0 {
			flush(b, s)
		}
	}
	flush(b, s)
	if st := s.Stats(); st.Dropped > 0 {
		b.Fatalf("dropped while filling: %+v", st)
	}
}

// BenchmarkLarge reads a history of five million events. Making it takes about half a minute.
func BenchmarkLarge(b *testing.B) {
	file := path(b)
	s := open(b, history.Options{Path: file, MaxBytes: 4 << 30})
	fill(b, s, 5*million)
	if info, err := os.Stat(file); err == nil {
		b.Logf("%d MB", info.Size()>>20)
	}
	read(b, s, 5*million)
}

// read asks for this and that in a history that had so many events.
func read(b *testing.B, s past, events int64) {
	for name, q := range map[string]history.Query{
		"busy":          {Topic: "busy"},
		"busy-all":      {Topic: "busy", Renewals: true},
		"some":          {Topic: "ci:job-77"},
		"some-all":      {Topic: "ci:job-77", Renewals: true},
		"rare":          {Topic: "rare"},
		"held":          {Topic: "held"},
		"held-all":      {Topic: "held", Renewals: true},
		"unknown":       {Topic: "never-used"},
		"since-day":     {Topic: "rare", Since: time.Now().Add(-24 * time.Hour)},
		"before-middle": {Topic: "ci:job-77", Before: events / 2},
		"everything":    {},
		"prefix":        {Prefix: "ci:job-77"},
		"prefix-rare":   {Prefix: "rar"},
	} {
		q.Limit = 20
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				query(b, s, q)
			}
		})
	}
	for _, d := range []time.Duration{time.Hour, 24 * time.Hour, 20 * 24 * time.Hour} {
		b.Run("overview-"+d.String(), func(b *testing.B) {
			for b.Loop() {
				if _, err := s.Overview(b.Context(), history.OverviewQuery{Since: time.Now().Add(-d)}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkAppend is what a short-lived process pays: open, write one event, close.
func BenchmarkAppend(b *testing.B) {
	o := history.Options{Path: path(b)}
	for b.Loop() {
		if err := history.Append(b.Context(), o, key(1)); err != nil {
			b.Fatal(err)
		}
	}
}
