package browsertest_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"legible.sh/mutex/internal/history"
	"legible.sh/mutex/internal/lease"
)

// busy runs a server that has a day of work behind it, some leases held, and a queue.
func busy(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	now := time.Now()
	j := journal{now: now}
	j.grant("deploy:staging", 1, 151, holder{"worker-3", "release 1.8", "ci-7", 84 * time.Second, 14 * time.Second, 2 * time.Minute})
	j.grant("db:migrate", 1, 77, holder{"agent-red", "add index on orders", "ci-2", 47 * time.Minute, 20 * time.Second, 5 * time.Minute})
	j.grant("gpu", 4, 311, holder{"train-a", "llama eval", "gpu-1", 33 * time.Minute, 40 * time.Second, 10 * time.Minute})
	j.grant("gpu", 4, 312, holder{"train-b", "ablation 12", "gpu-1", 9 * time.Minute, 9 * time.Minute, 12 * time.Minute})
	j.grant("gpu", 4, 313, holder{"train-c", "ablation 13", "gpu-2", 80 * time.Second, 0, 10 * time.Minute})
	for i := range 9 {
		d := time.Duration(i)
		j.grant(fmt.Sprintf("sim:ios-%02d", i), 1, 100+i, holder{
			fmt.Sprintf("xctest-%d", 40+i*3), "", fmt.Sprint("mac-", i%3), (d*37 + 20) * time.Second, (d*17%60 + 5) * time.Second, 4 * time.Minute,
		})
	}
	j.write(t, filepath.Join(dir, "mutex.jsonl"))
	writeHistory(t, filepath.Join(dir, "history.db"), now)
	url := serve(t, "MUTEX_DATA_DIR", dir)
	queue(t, url+"/deploy:staging?name=nightly&reason=nightly%20rollout")
	queue(t, url+"/deploy:staging?name=hotfix-7&reason=hotfix%20for%20%23812")
	queue(t, url+"/db:migrate?name=agent-blue")
	return url
}

// journal is what a server finds when it starts.
type journal struct {
	now time.Time
	b   strings.Builder
}

// holder is one who holds: since how long, how long ago it renewed (0: never), and its ttl.
type holder struct {
	name, reason, host string
	held, renewed, ttl time.Duration
}

func (j *journal) grant(topic string, capacity, fence int, h holder) {
	since, token := j.now.Add(-h.held), fmt.Sprintf("%032x", fence+1000*len(topic))
	fmt.Fprintf(&j.b, `{"t":"topic","topic":%q,"capacity":%d,"fence":%d}`+"\n", topic, capacity, fence-1)
	fmt.Fprintf(&j.b, `{"t":"grant","topic":%q,"lease":%q,"name":%q,"fence":%d,"since":%d,"expires":%d,"ttl":%d,"reason":%q,"host":%q,"pid":%d}`+"\n",
		topic, token, h.name, fence, since.UnixMilli(), since.Add(h.ttl).UnixMilli(), h.ttl.Milliseconds(), h.reason, h.host, 4000+fence)
	if h.renewed > 0 {
		at := j.now.Add(-h.renewed)
		fmt.Fprintf(&j.b, `{"t":"renew","topic":%q,"lease":%q,"expires":%d,"ttl":%d,"at":%d}`+"\n",
			topic, token, at.Add(h.ttl).UnixMilli(), h.ttl.Milliseconds(), at.UnixMilli())
	}
}

func (j *journal) write(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(j.b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// writeHistory writes a day of leases that came and went, few at night, many at noon, and one of an earlier day.
func writeHistory(t *testing.T, path string, now time.Time) {
	t.Helper()
	w := world{chance: rand.New(rand.NewPCG(4, 185)), places: []place{
		{"deploy:staging", 90 * time.Second, 1}, {"db:migrate", 25 * time.Second, 1}, {"gpu", 20 * time.Minute, 1}, {"sim:ios-03", 2 * time.Minute, 1},
	}}
	const day = 24 * 60
	var events []history.Event
	for minute := range day {
		load := 1 - math.Cos(float64(minute)/day*2*math.Pi) // 0 to 2
		if w.chance.Float64() > 0.1+load*0.3 {
			continue
		}
		start, end := w.lease(now.Add(time.Duration(minute-day-2)*time.Minute), load)
		start.LeaseID, end.LeaseID = fmt.Sprintf("%016x", minute+1), fmt.Sprintf("%016x", minute+1)
		events = append(events, start)
		if end.At.Before(now) {
			events = append(events, end)
		}
	}
	begun := now.Add(-30 * time.Hour)
	backup := history.Event{At: begun, Kind: history.Acquired, Topic: "backup", Name: "worker-3", Fence: 1204, TTL: time.Minute, Waited: 95 * time.Second}
	broken := backup
	broken.At, broken.Kind, broken.Held, broken.By = begun.Add(130*time.Minute), history.ForceReleased, 130*time.Minute, "alice (wedged)"
	events = append(events, backup, broken)
	slices.SortStableFunc(events, func(a, b history.Event) int { return a.At.Compare(b.At) })
	if err := history.Append(t.Context(), history.Options{Path: path}, events...); err != nil {
		t.Fatal(err)
	}
}

// world makes up leases, the same ones each time.
type world struct {
	chance *rand.Rand
	places []place
}

// place is a topic, how long it is held as a rule, and its next fence.
type place struct {
	topic string
	usual time.Duration
	fence lease.Fence
}

var names = []string{"worker-1", "worker-2", "worker-3", "nightly", "agent-blue"}

// lease makes up one that is granted then, as grant and end. The more load, the likelier it is that it had to wait.
func (w *world) lease(at time.Time, load float64) (start, end history.Event) {
	on := &w.places[w.chance.IntN(len(w.places))]
	held := time.Duration(float64(on.usual) * math.Exp(w.chance.NormFloat64()*0.6))
	start = history.Event{
		At: at, Kind: history.Acquired, Topic: on.topic, Name: names[w.chance.IntN(len(names))], Fence: on.fence,
		TTL: time.Minute, Host: "ci-7", PID: 4000 + int(on.fence),
	}
	on.fence++
	end = start
	end.At, end.Kind, end.Held = at.Add(held), history.Released, held
	if w.chance.Float64() < load*0.22 {
		start.Waited = time.Duration(float64(held) * w.chance.Float64() * load / 2)
	}
	switch odd := w.chance.Float64(); {
	case odd < 0.04:
		end.Kind = history.Expired
	case odd < 0.055:
		end.Kind, end.By = history.ForceReleased, "alice (wedged)"
	}
	return start, end
}
