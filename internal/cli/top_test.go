package cli_test

import (
	"io"
	"strings"
	"testing"
	"time"

	"legible.sh/mutex/internal/cli"
	"legible.sh/mutex/internal/locker"
)

func crowd() *service {
	s := heldStatus()
	quiet := locker.Status{Key: "quiet", State: locker.Held, Holders: []locker.Holder{{
		Who: locker.Who{Name: "old"}, Since: time.Now().Add(-3 * time.Hour), Expires: time.Now().Add(time.Minute),
	}}}
	listed := s
	listed.Waiters = nil // as a server lists it
	return &service{list: []locker.Status{quiet, listed}, status: s}
}

func TestTopShowsQueuesAndLongHolds(t *testing.T) {
	r := use(crowd(), nil, "top")
	r.wants(t, 0)
	contended, holds, ok := strings.Cut(r.out, "Longest holds")
	if !ok || !strings.Contains(contended, "deploy:staging") || !strings.Contains(contended, "nightly") || strings.Contains(contended, "quiet") {
		t.Errorf("printed\n%s", r.out)
	}
	if strings.Index(holds, "old") > strings.Index(holds, "worker-3") || !strings.Contains(holds, "3h") {
		t.Errorf("printed\n%s", r.out)
	}
	if strings.Contains(r.out, "\x1b") {
		t.Errorf("control characters: %q", r.out)
	}
}

func TestTopGivesTheTerminalBack(t *testing.T) {
	restored := false
	r := use(crowd(), func(f *cli.Flavour, s *cli.Streams) {
		onTerminals(f, s)
		in, keys := io.Pipe()
		s.In = in
		s.Raw = func() (func(), error) {
			go func() { _, _ = keys.Write([]byte("xq")) }()
			return func() { restored = true }, nil
		}
		s.Size = func() (int, int) { return 60, 8 }
	}, "top")
	r.wants(t, 0)
	if !restored || !strings.HasPrefix(r.out, "\x1b[?1049h") || !strings.HasSuffix(r.out, "\x1b[?1049l") {
		t.Errorf("restored %v, drew %q", restored, r.out)
	}
	frame, _, _ := strings.Cut(strings.TrimPrefix(r.out, "\x1b[?1049h\x1b[?25l\x1b[H"), "\x1b[J")
	lines := strings.Split(frame, "\x1b[K\r\n")
	if len(lines) > 8 {
		t.Errorf("%d lines", len(lines))
	}
	for _, line := range lines {
		if len([]rune(line)) > 60 {
			t.Errorf("too wide: %q", line)
		}
	}
}

func TestTopSaysWhyItCannotLook(t *testing.T) {
	r := use(&service{err: errOther}, onTerminals, "top")
	if r.wants(t, 1, "something else"); r.out != "" {
		t.Errorf("drew %q", r.out)
	}
}
