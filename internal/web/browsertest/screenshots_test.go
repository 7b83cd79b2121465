package browsertest_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"legible.sh/mutex/internal/history"
	"legible.sh/mutex/internal/lease"
)

var into = flag.String("screenshots", "", "keep the screenshots in this directory")

// TestScreenshots takes the pictures of the docs, of a server with a day of work behind it.
func TestScreenshots(t *testing.T) {
	dir := *into
	if dir == "" {
		dir = t.TempDir()
	}
	url := busy(t)
	p := browse(t)
	p.signIn(url)
	for _, shot := range []struct{ name, path string }{
		{"home", "/"}, {"topic", "/deploy:staging"}, {"semaphore", "/gpu"}, {"dashboard", "/-/dashboard"}, {"reference", "/-/docs"},
	} {
		for _, scheme := range []string{"light", "dark"} {
			p.scheme(scheme)
			p.desk()
			p.open(url + shot.path)
			p.keep(dir, shot.name+"-"+scheme)
			p.phone()
			p.open(url + shot.path)
			p.keep(dir, shot.name+"-phone-"+scheme)
		}
	}
}

// keep takes a picture of what a window shows at first.
func (p *page) keep(dir, name string) {
	p.t.Helper()
	picture := run(p, chromedp.CaptureScreenshot())
	if err := os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// signIn shows the admin token to the dashboard.
func (p *page) signIn(url string) {
	p.t.Helper()
	p.expect("401 (Unauthorized) " + url + "/-/dashboard")
	p.open(url + "/-/dashboard")
	run(p, chromedp.SendKeys(chromedp.ID("token"), adminToken+"\r"))
	p.shows("h1", "Dashboard")
	eventually(p.t, "the dashboard is there", func() bool { return eval[bool](p, `!!document.getElementById("live")`) })
}

// busy runs a server that has been working for a day.
func busy(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	now := time.Now()
	writeJournal(t, filepath.Join(dir, "mutex.jsonl"), now)
	writeHistory(t, filepath.Join(dir, "history.db"), now)
	url := serve(t, "MUTEX_DATA_DIR", dir)
	queue(t, url+"/deploy:staging?name=nightly&reason=nightly%20rollout")
	queue(t, url+"/deploy:staging?name=hotfix-7&reason=hotfix%20for%20%23812")
	queue(t, url+"/db:migrate?name=agent-blue")
	return url
}

// writeJournal writes leases that a server finds when it starts.
func writeJournal(t *testing.T, path string, now time.Time) {
	t.Helper()
	var b strings.Builder
	grant := func(topic string, capacity, fence int, name, reason, host string, held, renewed, ttl time.Duration) {
		since := now.Add(-held)
		fmt.Fprintf(&b, `{"t":"topic","topic":%q,"capacity":%d,"fence":%d}`+"\n", topic, capacity, fence-1)
		fmt.Fprintf(&b, `{"t":"grant","topic":%q,"lease":"%032x","name":%q,"fence":%d,"since":%d,"expires":%d,"ttl":%d,"reason":%q,"host":%q,"pid":%d}`+"\n",
			topic, fence+1000*len(topic), name, fence, since.UnixMilli(), since.Add(ttl).UnixMilli(), ttl.Milliseconds(), reason, host, 4000+fence)
		if renewed > 0 {
			at := now.Add(-renewed)
			fmt.Fprintf(&b, `{"t":"renew","topic":%q,"lease":"%032x","expires":%d,"ttl":%d,"at":%d}`+"\n",
				topic, fence+1000*len(topic), at.Add(ttl).UnixMilli(), ttl.Milliseconds(), at.UnixMilli())
		}
	}
	grant("deploy:staging", 1, 42, "worker-3", "release 1.8", "ci-7", 4*time.Minute, 14*time.Second, 2*time.Minute)
	grant("db:migrate", 1, 7, "agent-red", "add index on orders", "ci-2", 47*time.Minute, 20*time.Second, 5*time.Minute)
	grant("gpu", 4, 311, "train-a", "llama eval", "gpu-1", 33*time.Minute, 40*time.Second, 10*time.Minute)
	grant("gpu", 4, 312, "train-b", "ablation 12", "gpu-1", 9*time.Minute, 9*time.Minute, 12*time.Minute)
	grant("gpu", 4, 313, "train-c", "ablation 13", "gpu-2", 80*time.Second, 0, 10*time.Minute)
	for i := range 12 {
		grant(fmt.Sprintf("sim:ios-%02d", i), 1, 100+i, fmt.Sprintf("xctest-%d", i), "", "mac-"+fmt.Sprint(i%3), time.Duration(i*37+20)*time.Second, 15*time.Second, 4*time.Minute)
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// writeHistory writes a day of leases that came and went.
func writeHistory(t *testing.T, path string, now time.Time) {
	t.Helper()
	topics := []string{"deploy:staging", "db:migrate", "gpu", "sim:ios-03"}
	names := []string{"worker-1", "worker-2", "worker-3", "nightly", "agent-blue"}
	var events []history.Event
	for i := range 600 {
		minute := i * 1440 / 600
		busyness := (i%97)*(i%31)/60 + 1
		waited := time.Duration(0)
		if i%3 == 0 {
			waited = time.Duration(busyness*busyness) * 170 * time.Millisecond
		}
		held := time.Duration(busyness*(i%13)+3) * 900 * time.Millisecond
		at := now.Add(time.Duration(minute-1440)*time.Minute + time.Duration(i%50)*time.Second)
		e := history.Event{
			At: at, Kind: history.Acquired, Topic: topics[i%len(topics)], LeaseID: fmt.Sprintf("%016x", i+1), Name: names[i%len(names)],
			Fence: lease.Fence(i/4 + 1), TTL: time.Minute, Waited: waited, Host: "ci-7", PID: 4000 + i,
		}
		end := e
		end.At, end.Kind, end.Waited, end.Held = at.Add(held), history.Released, 0, held
		switch {
		case i%41 == 0:
			end.Kind = history.Expired
		case i%83 == 0:
			end.Kind, end.By = history.ForceReleased, "alice (wedged)"
		}
		events = append(events, e, end)
	}
	if err := history.Append(t.Context(), history.Options{Path: path}, events...); err != nil {
		t.Fatal(err)
	}
}
