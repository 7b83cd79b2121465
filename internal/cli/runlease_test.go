package cli_test

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"legible.sh/mutex/internal/locker"
)

// uneven answers for each key by itself, the last answer again and again.
type uneven struct {
	*service
	renewals, releases map[string][]error
}

func (u *uneven) Renew(ctx context.Context, key string, lease locker.Token, ttl time.Duration) (locker.Renewal, error) {
	v, err := u.service.Renew(ctx, key, lease, ttl)
	if given := u.next(u.renewals, key); given != nil {
		err = given
	}
	return v, err
}

func (u *uneven) Release(ctx context.Context, key string, lease locker.Token) (locker.Released, error) {
	v, err := u.service.Release(ctx, key, lease)
	if given := u.next(u.releases, key); given != nil {
		err = given
	}
	return v, err
}

func (u *uneven) next(answers map[string][]error, key string) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	left := answers[key]
	if len(left) == 0 {
		return nil
	}
	if len(left) > 1 {
		answers[key] = left[1:]
	}
	return left[0]
}

// asked counts the calls that the log names.
func (u *uneven) asked(call string) int { return strings.Count(u.log(), call+" ") }

// TestEachOfSeveralLeasesHasItsOwnEnd: one that had ended hides no other that could not be released, and one that was
// released is not taken for lost when the others are tried again.
func TestEachOfSeveralLeasesHasItsOwnEnd(t *testing.T) {
	silent := &locker.UnreachableError{Where: "http://h", Err: errOther}
	for _, c := range []struct {
		name     string
		releases map[string][]error
		says     []string
		never    []string
		asked    map[string]int // 0: many times
	}{
		{
			"one had ended, one cannot be released",
			map[string][]error{"b": {locker.ErrGone}, "a": {silent}},
			[]string{"was not released", "a: no answer from http://h", "b: the lease is gone", "ends by itself at"},
			nil, map[string]int{"a": 0, "b": 1, "c": 1},
		},
		{
			"one is released, one cannot be",
			map[string][]error{"b": {nil, locker.ErrGone}, "a": {silent}},
			[]string{"was not released", "a: no answer from http://h", "ends by itself at"},
			[]string{"b:", "c:"}, map[string]int{"a": 0, "b": 1, "c": 1},
		},
		{
			"one had ended, one is released at the second try",
			map[string][]error{"b": {locker.ErrGone}, "a": {silent, nil}},
			[]string{"had already ended", "b: the lease is gone"},
			[]string{"a:", "c:", "not released"}, map[string]int{"a": 2, "b": 1, "c": 1},
		},
		{
			"one is gone after a try that nobody confirmed",
			map[string][]error{"a": {silent, locker.ErrGone}},
			nil, []string{"a", "ended", "released"}, map[string]int{"a": 2, "b": 1, "c": 1},
		},
		{
			"two had ended",
			map[string][]error{"a": {locker.ErrNotHolder}, "c": {locker.ErrNotHeld}},
			[]string{"had already ended", "c: the lease is gone: nothing is held; a: the lease is gone: another holds it"},
			[]string{"b:"}, map[string]int{"a": 1, "b": 1, "c": 1},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			u := &uneven{service: &service{}, releases: c.releases}
			r := useLocker(u, "run", "a", "b", "c", "--grace", "0.4", "--", "true")
			r.wants(t, 0, c.says...)
			for _, word := range c.never {
				if strings.Contains(r.err, word) {
					t.Errorf("said %q, with %q", r.err, word)
				}
			}
			for key, want := range c.asked {
				if got := u.asked("release " + key); want != 0 && got != want || want == 0 && got < 2 {
					t.Errorf("%s was to be released %d times", key, got)
				}
			}
		})
	}
}

// TestNoGraceIsNone, and not the default: a release is tried once.
func TestNoGraceIsNone(t *testing.T) {
	u := &uneven{service: &service{}, releases: map[string][]error{"a": {errOther}}}
	useLocker(u, "run", "a", "--grace", "0", "--", "true").wants(t, 0, "was not released")
	if got := u.asked("release a"); got != 1 {
		t.Errorf("was to be released %d times", got)
	}
}

// TestWhatLivesOnAfterALossIsGivenBack, and what cannot be is said.
func TestWhatLivesOnAfterALossIsGivenBack(t *testing.T) {
	u := &uneven{
		service:  &service{},
		renewals: map[string][]error{"b": {locker.ErrGone}},
		releases: map[string][]error{"c": {errOther}},
	}
	r := useLocker(u, "run", "a", "b", "c", "--ttl", "1", "--", "sleep", "60")
	r.wants(t, 75, "lease lost: b: the lease is gone", "c was not given back")
	if strings.Contains(r.err, "a was not") || u.asked("release a") != 1 || u.asked("release b") != 0 || u.asked("release c") != 1 {
		t.Errorf("said %q, did %s", r.err, u.log())
	}
}

// TestEveryEventSaysTheTimeThatIsLeft, the one from before the command's start among them.
func TestEveryEventSaysTheTimeThatIsLeft(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events")
	useLocker(&service{}, "run", "a", "--ttl", "30", "--events", path, "--", "true").wants(t, 0)
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var kinds []string
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var e struct {
			Event string
			Left  *float64
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, e.Event)
		if held := e.Event != "released"; e.Left == nil || held != (*e.Left > 0) || *e.Left > 30 {
			t.Errorf("left in %s", lines.Text())
		}
	}
	if got := strings.Join(kinds, " "); got != "acquired exited released" {
		t.Error(got)
	}
}
