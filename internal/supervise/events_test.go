package supervise_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"legible.sh/mutex/internal/supervise"
)

func TestAnEventIsOneLine(t *testing.T) {
	var out bytes.Buffer
	events := supervise.NewEvents(&out)
	code := 0
	at := time.Date(2026, 1, 2, 3, 4, 5, 6_000_000, time.FixedZone("", 3600))
	for _, e := range []supervise.Event{
		{At: at, Kind: supervise.Waiting, Topic: "deploy", Position: 2, Holders: []string{"a\nb"}},
		{At: at, Kind: supervise.Acquired, Topic: "deploy", Fence: 7, TTL: time.Minute, Left: time.Minute},
		{At: at, Kind: supervise.Uncertain, Topic: "deploy", Fence: 7, Left: 1500*time.Millisecond + 999, Error: "down"},
		{At: at, Kind: supervise.Lost, Topic: "deploy", Fence: 7, Left: -time.Second, Error: "gone"},
		{At: at, Kind: supervise.Exited, Topic: "deploy", Fence: 7, Code: &code},
		{At: at, Kind: supervise.Waiting, Topic: "deploy", Left: 2500 * time.Millisecond},
	} {
		events.Emit(e)
	}
	if err := events.Close(); err != nil {
		t.Fatal(err)
	}
	want := `{"at":"2026-01-02T02:04:05.006Z","event":"waiting","topic":"deploy","position":2,"holders":["a\nb"]}
{"at":"2026-01-02T02:04:05.006Z","event":"acquired","topic":"deploy","fence":7,"ttl":60,"left":60}
{"at":"2026-01-02T02:04:05.006Z","event":"uncertain","topic":"deploy","fence":7,"left":1.5,"error":"down"}
{"at":"2026-01-02T02:04:05.006Z","event":"lost","topic":"deploy","fence":7,"left":0,"error":"gone"}
{"at":"2026-01-02T02:04:05.006Z","event":"exited","topic":"deploy","fence":7,"left":0,"code":0}
{"at":"2026-01-02T02:04:05.006Z","event":"waiting","topic":"deploy","left":2.5}
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

func TestNoEventsAreFine(t *testing.T) {
	var events *supervise.Events
	events.Emit(supervise.Event{Kind: supervise.Lost})
	if err := events.Close(); err != nil {
		t.Error(err)
	}
}

func TestAnEventsFileIsAppendedToAndPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events")
	for range 2 {
		events, err := supervise.OpenEvents(path)
		if err != nil {
			t.Fatal(err)
		}
		events.Emit(supervise.Event{Kind: supervise.Released})
		if err := events.Close(); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil || strings.Count(string(text), "\n") != 2 || !json.Valid(bytes.SplitN(text, []byte("\n"), 2)[0]) {
		t.Errorf("%q %v", text, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	if _, err := supervise.OpenEvents(filepath.Join(path, "below")); err == nil {
		t.Error("opened below a file")
	}
}

// TestAReaderThatStoppedCostsEventsAndNoTime: the writer blocks for ever.
func TestAReaderThatStoppedCostsEventsAndNoTime(t *testing.T) {
	read, write := io.Pipe()
	events := supervise.NewEvents(write)
	for range 1000 {
		events.Emit(supervise.Event{Kind: supervise.Renewed})
	}
	if err := events.Close(); !errors.Is(err, supervise.ErrEventsIncomplete) {
		t.Errorf("close: %v", err)
	}
	read.Close()
}
