package journal_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"legible.sh/mutex/internal/journal"
	"legible.sh/mutex/internal/journal/disk"
	"legible.sh/mutex/internal/journal/record"
	"legible.sh/mutex/internal/lease"
	"legible.sh/mutex/internal/testlog"
)

// renewal is a typical event, for the lease that granted grants.
func renewal(n int, now time.Time) lease.Event {
	return lease.Event{
		Kind: lease.Renewed, At: now, Token: token(n), Fence: 1, TTL: time.Minute, Expires: now.Add(time.Minute), Capacity: 1,
		Who: lease.Who{Name: "bench"},
	}
}

func granted(n int, now time.Time) lease.Event {
	return lease.Event{
		Kind: lease.Granted, At: now, Since: now, Token: token(n), Fence: 1, TTL: time.Minute, Expires: now.Add(time.Minute),
		Capacity: 1, Declares: true, Who: lease.Who{Name: "bench"},
	}
}

// BenchmarkAppend is records a second through the whole journal, each answered after its sync, beside what the disk
// does with a bare append and fdatasync.
func BenchmarkAppend(b *testing.B) {
	b.Run("bare", benchBare)
	for _, writers := range []int{1, 64} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) { benchAppend(b, writers) })
	}
}

func benchBare(b *testing.B) {
	now := time.Now()
	e := renewal(1, now)
	text := record.AppendEvent(nil, "bench", &e)
	f, err := disk.OS{}.Create("", filepath.Join(b.TempDir(), "bare"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	for n := 0; b.Loop(); n++ {
		if err := f.WriteAt("", text, int64(n*len(text))); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(""); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "records/s")
}

func benchAppend(b *testing.B, writers int) {
	f, _, err := journal.Open(b.TempDir(), realOptions())
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	now := time.Now()
	for n := range writers {
		if err := f.Append(lease.Topic(fmt.Sprint("t", n)), []lease.Event{granted(n, now)}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	b.ResetTimer()
	var all sync.WaitGroup
	for n := range writers {
		all.Go(func() {
			topic, events := lease.Topic(fmt.Sprint("t", n)), []lease.Event{renewal(n, now)}
			for range (b.N + writers - 1 - n) / writers {
				if err := f.Append(topic, events); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "records/s")
}

// BenchmarkBoot opens a journal of 100 MB with 10,000 topics.
func BenchmarkBoot(b *testing.B) {
	image := bootImage(10_000, 100<<20)
	data := b.TempDir()
	for b.Loop() {
		b.StopTimer()
		if err := os.WriteFile(filepath.Join(data, "mutex.jsonl"), image, 0o600); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		f, boot, err := journal.Open(data, realOptions())
		if err != nil || len(boot.Topics) != 10_000 {
			b.Fatal(len(boot.Topics), err)
		}
		b.StopTimer()
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
	b.SetBytes(int64(len(image)))
}

// bootImage is a journal of many topics that were taken, renewed and released over and over.
func bootImage(topics, size int) []byte {
	var b bytes.Buffer
	var line []byte
	now := time.Now()
	for fence := lease.Fence(1); b.Len() < size; fence++ {
		for n := range topics {
			g := granted(n, now)
			g.Fence, g.Declares, g.Key = fence, fence == 1, lease.KeyOf(fmt.Sprint(n, fence))
			r := renewal(n, now)
			r.Fence = fence
			e := r
			e.Kind = lease.Released
			name := lease.Topic(fmt.Sprint("build:project-", n))
			for _, event := range []*lease.Event{&g, &r, &r, &e} {
				line = record.AppendEvent(line[:0], name, event)
				b.Write(line)
			}
		}
	}
	return b.Bytes()
}

// BenchmarkMemory is what an append costs a server without a data directory.
func BenchmarkMemory(b *testing.B) {
	events := []lease.Event{renewal(1, time.Now())}
	b.ReportAllocs()
	for b.Loop() {
		_ = journal.Memory{}.Append("x", events)
	}
}

// BenchmarkEncode and BenchmarkParse are one renewal, out and in.
func BenchmarkEncode(b *testing.B) {
	e := renewal(1, time.Now())
	var line []byte
	b.ReportAllocs()
	for b.Loop() {
		line = record.AppendEvent(line[:0], "build:project-1", &e)
	}
	b.SetBytes(int64(len(line)))
}

func BenchmarkParse(b *testing.B) {
	e := renewal(1, time.Now())
	line := record.AppendEvent(nil, "build:project-1", &e)
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := record.Parse(line); err != nil {
			b.Fatal(err)
		}
	}
}

// A million renewals of one lease leave a small file, as soon as there is a quiet moment.
func TestMillionRenewals(t *testing.T) {
	data := t.TempDir()
	options := realOptions()
	log := &testlog.Buffer{}
	options.Log = slog.New(slog.NewTextHandler(log, nil))
	f, _, err := journal.Open(data, options)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	if err := f.Append("x", []lease.Event{granted(1, now)}); err != nil {
		t.Fatal(err)
	}
	batches := 1000
	if testing.Short() {
		batches = 100
	}
	events := make([]lease.Event, 1000)
	for n := range batches {
		for i := range events {
			events[i] = renewal(1, now.Add(time.Duration(n*1000+i)*time.Microsecond))
		}
		if err := f.Append("x", events); err != nil {
			t.Fatal(err)
		}
	}
	size := func() int64 {
		info, err := os.Stat(filepath.Join(data, "mutex.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	eventually(t, "the file is below 1 MB", func() bool { return size() < 1_000_000 })
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes; %s", size(), log)
	f, _, err = journal.Open(data, options)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	renewed := now.Add(time.Duration(batches*1000-1) * time.Microsecond)
	events = f.Recall("x", renewed)
	last := renewed.Add(time.Minute)
	if got := events[len(events)-1].Expires; len(events) != 3 || got.Sub(last).Abs() > time.Millisecond {
		t.Errorf("%d events, the last ends at %v, want %v", len(events), got, last)
	}
}
