package history_test

import (
	"database/sql"
	"fmt"
	"testing"
	"time"

	"legible.sh/mutex/internal/history"
	"legible.sh/mutex/internal/lease"
)

// blockSize is how many events retention forgets at a time.
const blockSize = 2048

// observe puts n events of that kind on a topic, a second apart from at on.
func observe(t testing.TB, s past, topic lease.Topic, kind lease.Kind, n int, at time.Time) {
	t.Helper()
	for i := range n {
		e := granted(i)
		e.Kind, e.At = kind, at.Add(time.Duration(i)*time.Second)
		s.Observe(topic, []lease.Event{e})
		if i%4096 == 4095 {
			flush(t, s)
		}
	}
	flush(t, s)
}

func TestEventsTooOldAreForgottenAndTheRestStays(t *testing.T) {
	now := time.Now()
	s := open(t, history.Options{Path: path(t), MaxAge: 24 * time.Hour, Now: func() time.Time { return now }})
	observe(t, s, "old", lease.Granted, 3*blockSize, now.Add(-48*time.Hour))
	observe(t, s, "new", lease.Granted, blockSize, now.Add(-time.Hour))

	flush(t, s)
	// The last of the old ones lies in a block with the first of the new.
	if old := query(t, s, history.Query{Topic: "old"}); len(old) != 1 || old[0].ID != 3*blockSize {
		t.Errorf("of the old ones are left: %+v", old)
	}
	got := query(t, s, history.Query{Topic: "new", Limit: 1})
	if len(got) != 1 || got[0].ID != 4*blockSize {
		t.Errorf("got %+v, want event %d", got, 4*blockSize)
	}
}

func TestIdsGoOnWhenEverythingIsOld(t *testing.T) {
	file := path(t)
	now := time.Now()
	o := history.Options{Path: file, MaxAge: time.Hour, Now: func() time.Time { return now }}
	s := history.Open(o)
	observe(t, s, "t", lease.Granted, 2*blockSize+10, now.Add(-48*time.Hour))
	flush(t, s)
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	s = open(t, o)
	observe(t, s, "t", lease.Granted, 1, now)
	got := query(t, s, history.Query{Topic: "t", Limit: 1})
	if len(got) != 1 || got[0].ID != 2*blockSize+11 {
		t.Errorf("got %+v, want event %d", got, 2*blockSize+11)
	}
}

func TestPastTheSizeRenewalsGoBeforeWhatMatters(t *testing.T) {
	const size = 512 << 10
	file := path(t)
	s := open(t, history.Options{Path: file, MaxBytes: size})
	observe(t, s, "kept", lease.Granted, 10, start)
	observe(t, s, "bulk", lease.Renewed, 10*blockSize, start)
	for range 20 { // as many turns as retention may want
		flush(t, s)
	}
	if st := s.Stats(); st.Bytes > size*11/10 {
		t.Errorf("the database has %d bytes, want about %d", st.Bytes, size)
	}
	if got := query(t, s, history.Query{Topic: "kept"}); len(got) != 10 {
		t.Errorf("%d of 10 grants are left", len(got))
	}
	got := query(t, s, history.Query{Topic: "bulk", Renewals: true, Limit: 1})
	if len(got) != 1 || got[0].ID != 10*blockSize+10 {
		t.Errorf("the newest renewal: %+v", got)
	}
	observe(t, s, "more", lease.Granted, 15*blockSize, start)
	for range 20 {
		flush(t, s)
	}
	if st := s.Stats(); st.Bytes > size*11/10 {
		t.Errorf("the database has %d bytes, want about %d", st.Bytes, size)
	}
	if got := query(t, s, history.Query{Topic: "kept"}); len(got) != 0 {
		t.Errorf("the oldest grants are still there")
	}
	if got := query(t, s, history.Query{Topic: "more", Limit: 1000}); len(got) != 1000 {
		t.Errorf("%d of the newest 1000 are left", len(got))
	}
}

func TestNamesOfForgottenEventsGoToo(t *testing.T) {
	const blocks, perTopic = 40, 32
	file := path(t)
	s := history.Open(history.Options{Path: file, MaxBytes: 512 << 10})
	for n := range blocks * blockSize / perTopic {
		var turn []lease.Event
		for range perTopic {
			e := granted(n)
			e.Who.Name = fmt.Sprint("worker-", n)
			turn = append(turn, e)
		}
		s.Observe(lease.Topic(fmt.Sprint("topic-", n)), turn)
		s.Observe("steady", []lease.Event{granted(n)})
		if n%256 == 0 {
			flush(t, s)
		}
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for _, table := range []string{"topics", "holders"} {
		var n, dangling int
		if err := db.QueryRow("SELECT count(*) FROM " + table).Scan(&n); err != nil {
			t.Fatal(err)
		}
		if n > blocks*blockSize/perTopic*3/4 {
			t.Errorf("%d %s are left of %d", n, table, blocks*blockSize/perTopic)
		}
		column := table[:len(table)-1]
		err := db.QueryRow("SELECT count(*) FROM events WHERE " + column + " NOT IN (SELECT id FROM " + table + ")").Scan(&dangling)
		if err != nil {
			t.Fatal(err)
		}
		if dangling > 0 {
			t.Errorf("%d events name %s that are gone", dangling, table)
		}
	}
}

// TestAClockThatWasWrongHoldsNothingBack: events of a time that is yet to come, as a machine without a clock of its own
// gives before it has asked for the time, are as old as those that were written after them.
func TestAClockThatWasWrongHoldsNothingBack(t *testing.T) {
	now := time.Now()
	clock := func() time.Time { return now }
	s := open(t, history.Options{Path: path(t), MaxAge: 24 * time.Hour, Now: clock})
	observe(t, s, "ahead", lease.Granted, blockSize, now.Add(10*365*24*time.Hour))
	observe(t, s, "old", lease.Granted, 2*blockSize, now.Add(-48*time.Hour))
	observe(t, s, "new", lease.Granted, blockSize, now.Add(-time.Hour))
	flush(t, s)
	for topic, want := range map[string]int{"ahead": 0, "old": 1, "new": blockSize} {
		if got := query(t, s, history.Query{Topic: topic, Limit: 2 * blockSize}); len(got) != want {
			t.Errorf("%s: %d events are left, want %d", topic, len(got), want)
		}
	}
}

// TestEventsOfTheFutureStayWhileThoseAfterThemDo: a block of the future is kept as long as what follows it is young.
func TestEventsOfTheFutureStayWhileThoseAfterThemDo(t *testing.T) {
	now := time.Now()
	s := open(t, history.Options{Path: path(t), MaxAge: 24 * time.Hour, Now: func() time.Time { return now }})
	observe(t, s, "ahead", lease.Granted, blockSize, now.Add(10*365*24*time.Hour))
	observe(t, s, "new", lease.Granted, 2*blockSize, now.Add(-time.Hour))
	flush(t, s)
	if got := query(t, s, history.Query{Topic: "ahead", Limit: 2 * blockSize}); len(got) < blockSize-1 {
		t.Errorf("%d events are left, want all", len(got))
	}
}
