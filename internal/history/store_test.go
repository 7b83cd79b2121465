package history_test

import (
	"os"
	"slices"
	"testing"
	"time"

	"legible.sh/mutex/internal/history"
	"legible.sh/mutex/internal/lease"
)

func TestEventsComeBackNewestFirst(t *testing.T) {
	both(t, nil, func(t *testing.T, h past) {
		g := granted(7)
		end := after(g, 1500*time.Millisecond, lease.Forced)
		end.By = "root: stuck"
		h.Observe("deploy:staging", []lease.Event{g, after(g, time.Second, lease.Renewed), end})
		flush(t, h)

		want := []history.Event{
			{ID: 3, At: end.At.UTC(), Kind: history.ForceReleased, Topic: "deploy:staging", LeaseID: token(7).ID(),
				Name: "worker", Reason: "deploy", Host: "ci-7", PID: 4711, Fence: 7, Slot: 2, TTL: time.Minute,
				Held: 1500 * time.Millisecond, By: "root: stuck"},
			{ID: 2, At: g.At.Add(time.Second).UTC(), Kind: history.Renewed, Topic: "deploy:staging", LeaseID: token(7).ID(),
				Name: "worker", Reason: "deploy", Host: "ci-7", PID: 4711, Fence: 7, Slot: 2, TTL: time.Minute},
			{ID: 1, At: g.At.UTC(), Kind: history.Acquired, Topic: "deploy:staging", LeaseID: token(7).ID(),
				Name: "worker", Reason: "deploy", Host: "ci-7", PID: 4711, Fence: 7, Slot: 2, TTL: time.Minute,
				Waited: 250 * time.Millisecond},
		}
		same(t, query(t, h, history.Query{Topic: "deploy:staging", Renewals: true}), want)
		same(t, query(t, h, history.Query{Topic: "deploy:staging"}), []history.Event{want[0], want[2]})
		same(t, query(t, h, history.Query{}), []history.Event{want[0], want[2]})
		same(t, query(t, h, history.Query{Topic: "deploy"}), nil)
	})
}

func same(t *testing.T, got, want []history.Event) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %d events, want %d: %+v", len(got), len(want), got)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("event %d:\n got %+v\nwant %+v", i, got[i], want[i])
		}
	}
}

func TestWhatIsNoPartOfHistoryIsPassedOver(t *testing.T) {
	both(t, nil, func(t *testing.T, s past) {
		g := granted(1)
		var events []lease.Event
		for _, k := range []lease.Kind{lease.Declared, lease.Enqueued, lease.Detached, lease.Reattached, lease.Left, lease.Spent, lease.Forgotten} {
			events = append(events, after(g, 0, k))
		}
		s.Observe("t", events)
		flush(t, s)
		if got := query(t, s, history.Query{}); len(got) != 0 {
			t.Errorf("got %+v", got)
		}
		if st := s.Stats(); st.Written != 0 || st.Dropped != 0 {
			t.Errorf("stats %+v", st)
		}
	})
}

func TestTheFileIsPrivateAndHoldsNoSecret(t *testing.T) {
	file := path(t)
	s := open(t, history.Options{Path: file})
	s.Observe("t", []lease.Event{granted(5)})
	flush(t, s)
	for _, f := range []string{file, file + "-wal", file + "-shm"} {
		info, err := os.Stat(f)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s is %v, want 0600", f, info.Mode())
		}
		holdsNone(t, f, token(5))
	}
}

func TestANewStoreGoesOnWhereTheLastOneEnded(t *testing.T) {
	file := path(t)
	for n := range 3 {
		s := history.Open(history.Options{Path: file})
		s.Observe("t", []lease.Event{granted(n)})
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, history.Options{Path: file})
	got := query(t, s, history.Query{Topic: "t"})
	if len(got) != 3 || got[0].ID != 3 || got[2].ID != 1 {
		t.Errorf("got %+v", got)
	}
}

func TestTwoWritersOfOneFileNeverUseAnIDTwice(t *testing.T) {
	file := path(t)
	one, two := open(t, history.Options{Path: file}), open(t, history.Options{Path: file})
	eventually(t, "both have it open, which one may have kept the other from", func() bool {
		flush(t, one)
		flush(t, two)
		return !one.Stats().Failing && !two.Stats().Failing
	})
	for n := range 6 {
		s := one
		if n%2 == 1 {
			s = two
		}
		s.Observe("t", []lease.Event{granted(n)})
		flush(t, s)
	}
	got := query(t, one, history.Query{})
	if len(got) != 6 {
		t.Fatalf("%d events, want 6: %+v", len(got), one.Stats())
	}
	for i, e := range got {
		if e.ID != int64(6-i) || e.Fence != lease.Fence(5-i) || e.Name != "worker" {
			t.Errorf("event %d: %+v", i, e)
		}
	}
}

func TestASharedFileIsWritableForItsGroup(t *testing.T) {
	file := path(t)
	s := open(t, history.Options{Path: file, Mode: 0o660})
	flush(t, s)
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o660 {
		t.Errorf("it is %v, want 0660 whatever the umask", info.Mode())
	}
}

// TestRenewalsInALoopAreThinned: the last one of those that lie close together stands for them, whatever else happens
// between, and those of another lease do not count.
func TestRenewalsInALoopAreThinned(t *testing.T) {
	both(t, nil, func(t *testing.T, s past) {
		mine, other := granted(1), granted(2)
		s.Observe("t", []lease.Event{mine})
		for ms := range 1000 {
			s.Observe("t", []lease.Event{after(mine, time.Duration(ms)*time.Millisecond, lease.Renewed)})
			if ms%250 == 0 {
				s.Observe("t", []lease.Event{after(other, time.Duration(ms)*time.Millisecond, lease.Renewed)})
			}
		}
		s.Observe("t", []lease.Event{after(mine, time.Second, lease.Released)})
		flush(t, s)
		var at []time.Duration
		others := 0
		for _, e := range query(t, s, history.Query{Topic: "t", Renewals: true}) {
			if e.LeaseID == other.Token.ID() {
				others++
				continue
			}
			at = append(at, e.At.Sub(mine.At))
		}
		if want := []time.Duration{time.Second, 999e6, 799e6, 599e6, 399e6, 199e6, 0}; !slices.Equal(at, want) {
			t.Errorf("read %v, want %v", at, want)
		}
		if others != 4 {
			t.Errorf("%d renewals of the other lease, which were far apart", others)
		}
		if st := s.Stats(); st.Dropped != 0 {
			t.Errorf("%d dropped", st.Dropped)
		}
	})
}
