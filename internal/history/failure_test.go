package history_test

import (
	"bytes"
	"context"
	"database/sql"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"legible.sh/mutex/internal/history"
	"legible.sh/mutex/internal/lease"
	"legible.sh/mutex/internal/testlog"
)

// journal is a log that counts.
type journal struct{ testlog.Buffer }

func (j *journal) count(s string) int { return strings.Count(j.String(), s) }

// fragile are options for a store whose database is about to fail.
func fragile(file string) (history.Options, *journal) {
	j := new(journal)
	return history.Options{
		Path: file, Log: slog.New(slog.NewTextHandler(j, nil)),
		Linger: time.Millisecond, Retry: 20 * time.Millisecond, Busy: 10 * time.Millisecond,
	}, j
}

// lock makes a second connection hold the database's write lock until the returned function is called.
func lock(t testing.TB, file string) (release func()) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+file+"?_txlock=exclusive&_busy_timeout=10000")
	if err != nil {
		t.Fatal(err)
	}
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := tx.Rollback(); err != nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestALockedDatabaseCostsNothingButTime(t *testing.T) {
	file := path(t)
	o, log := fragile(file)
	s := open(t, o)
	flush(t, s)
	release := lock(t, file)
	for n := range 100 {
		s.Observe("t", []lease.Event{granted(n)})
	}
	eventually(t, "the failure shows", func() bool { return s.Stats().Failing })
	if got := query(t, s, history.Query{}); len(got) != 0 {
		t.Errorf("read %d events that could not be written", len(got))
	}
	eventually(t, "several attempts", func() bool { return log.count("cannot write") > 0 })
	release()
	eventually(t, "everything is written", func() bool { return s.Stats().Written == 100 })
	if n := log.count("cannot write"); n != 1 {
		t.Errorf("the failure was logged %d times, want once", n)
	}
	eventually(t, "the recovery is logged", func() bool { return log.count("writing again") == 1 })
	if st := s.Stats(); st.Dropped != 0 || st.Failing {
		t.Errorf("stats %+v", st)
	}
}

func TestAFullQueueDropsRenewalsFirst(t *testing.T) {
	file := path(t)
	o, log := fragile(file)
	o.QueueLimit = 10
	s := open(t, o)
	flush(t, s)
	release := lock(t, file)
	s.Observe("t", []lease.Event{granted(1000)})
	eventually(t, "the failure shows", func() bool { return s.Stats().Failing && s.Stats().Queued == 0 })

	// The first event is in the writer's hands; the queue has room for ten.
	for n := range 8 {
		s.Observe("t", []lease.Event{after(granted(n), time.Second, lease.Renewed)})
	}
	if st := s.Stats(); st.Queued != 5 || st.Dropped != 3 {
		t.Errorf("after 8 renewals: %+v, want 5 queued and 3 dropped", st)
	}
	for n := range 8 {
		s.Observe("t", []lease.Event{granted(n)})
	}
	if st := s.Stats(); st.Queued != 10 || st.Dropped != 6 {
		t.Errorf("after 8 grants: %+v, want 10 queued and 6 dropped", st)
	}
	release()
	eventually(t, "what was kept is written", func() bool { return s.Stats().Written == 11 })
	eventually(t, "the loss is logged", func() bool { return log.count("dropped=6") == 1 })
}

func TestCloseGivesUpWithinItsBudget(t *testing.T) {
	file := path(t)
	o, _ := fragile(file)
	o.Busy = time.Minute
	s := history.Open(o)
	flush(t, s)
	defer lock(t, file)()
	s.Observe("t", []lease.Event{granted(1), granted(2)})

	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err := s.Close(ctx)
	if err == nil || !strings.Contains(err.Error(), "2 events were not written") {
		t.Errorf("Close: %v, want it to say that 2 events were lost", err)
	}
	s.Observe("t", []lease.Event{granted(3)})
	if st := s.Stats(); st.Dropped != 3 || st.Queued != 0 {
		t.Errorf("stats %+v, want 3 dropped", st)
	}
}

func TestClosedStoreRefusesReads(t *testing.T) {
	s := history.Open(history.Options{Path: path(t)})
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Errorf("a second Close: %v", err)
	}
	if _, err := s.Query(t.Context(), history.Query{}); !isUnavailable(err) {
		t.Errorf("Query: %v, want ErrUnavailable", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := s.Flush(ctx); err != nil {
		t.Errorf("Flush: %v, want it to return at once", err)
	}
}

func TestADamagedFileIsSetAside(t *testing.T) {
	for name, damage := range map[string]func([]byte) []byte{
		"not a database": func([]byte) []byte { return []byte(strings.Repeat("nonsense", 1024)) },
		"pages gone": func(b []byte) []byte {
			for i := 4096; i < len(b); i++ {
				b[i] = 0xee
			}
			return b
		},
	} {
		t.Run(name, func(t *testing.T) {
			file := path(t)
			s := history.Open(history.Options{Path: file})
			s.Observe("t", []lease.Event{granted(1)})
			if err := s.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, damage(content), 0o600); err != nil {
				t.Fatal(err)
			}
			o, log := fragile(file)
			s = open(t, o)
			s.Observe("t", []lease.Event{granted(2)})
			eventually(t, "a new file is written to", func() bool { return s.Stats().Written == 1 })
			if got := query(t, s, history.Query{}); len(got) != 1 || got[0].Fence != 2 {
				t.Errorf("got %+v", got)
			}
			if _, err := os.Stat(file + ".corrupt"); err != nil {
				t.Error(err)
			}
			if log.count("set aside") != 1 {
				t.Error("it was not logged")
			}
		})
	}
}

func TestDamageThatOnlyAReadMeetsIsSetAsideToo(t *testing.T) {
	file := path(t)
	o, _ := fragile(file)
	spoil(t, o, file)

	s := open(t, o)
	eventually(t, "reading works again", func() bool {
		_, err := s.Query(t.Context(), history.Query{Limit: 1000, Before: 1001})
		return err == nil
	})
	if _, err := os.Stat(file + ".corrupt"); err != nil {
		t.Error(err)
	}
}

// overwriteLeaf spoils every page of a table but its root.
func overwriteLeaf(t testing.TB, file, table string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	rows, err := db.Query("SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' AND pageno > 10 LIMIT 20", table)
	if err != nil {
		t.Fatal(err)
	}
	var pages []int64
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			t.Fatal(err)
		}
		pages = append(pages, n)
	}
	if err := rows.Close(); err != nil || len(pages) == 0 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for _, n := range pages {
		if _, err := f.WriteAt(bytes.Repeat([]byte{0xee}, 4096), (n-1)*4096); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSomebodyElsesDatabaseIsLeftAlone(t *testing.T) {
	file := path(t)
	db, err := sql.Open("sqlite", "file:"+file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("CREATE TABLE recipes (name TEXT); INSERT INTO recipes VALUES ('soup')"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	o, log := fragile(file)
	s := history.Open(o)
	s.Observe("t", []lease.Event{granted(1)})
	eventually(t, "the failure shows", func() bool { return s.Stats().Failing })
	if err := s.Close(t.Context()); err == nil {
		t.Error("Close says that nothing was lost")
	}
	if log.count("not a history database") != 1 {
		t.Error("the log does not say why")
	}
	after, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(before, after) {
		t.Error("the file was changed")
	}
}

func TestADirectoryThatAppearsLaterIsUsed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "later")
	o, log := fragile(filepath.Join(dir, "history.db"))
	s := open(t, o)
	s.Observe("t", []lease.Event{granted(1)})
	eventually(t, "the failure shows", func() bool { return s.Stats().Failing })
	if _, err := s.Query(t.Context(), history.Query{}); !isUnavailable(err) {
		t.Errorf("Query: %v, want ErrUnavailable", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is written", func() bool { return s.Stats().Written == 1 })
	if got := query(t, s, history.Query{}); len(got) != 1 {
		t.Errorf("got %+v", got)
	}
	if log.count("cannot write") != 1 {
		t.Error("the failure was not logged once")
	}
}

// Whoever removes, replaces or moves the file under a store must not leave it writing where nobody will ever read.
func TestAFileThatIsTakenAwayIsLeft(t *testing.T) {
	remove := func(t *testing.T, names ...string) {
		for _, name := range names {
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
	}
	rename := func(t *testing.T, from, to string) {
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	for what, lose := range map[string]func(t *testing.T, file string){
		"removed with its log": func(t *testing.T, file string) { remove(t, file+"-wal", file+"-shm", file) },
		"removed alone":        func(t *testing.T, file string) { remove(t, file) },
		"replaced by junk": func(t *testing.T, file string) {
			if err := os.WriteFile(file+".junk", []byte(strings.Repeat("no database", 1000)), 0o600); err != nil {
				t.Fatal(err)
			}
			rename(t, file+".junk", file)
		},
		"replaced by a copy": func(t *testing.T, file string) {
			other := open(t, history.Options{Path: file + ".copy"})
			if err := other.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			rename(t, file+".copy", file)
		},
		"directory replaced by an empty one": func(t *testing.T, file string) {
			dir := filepath.Dir(file)
			rename(t, dir, dir+".away")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(what, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(dir, "history.db")
			o, log := fragile(file)
			s := open(t, o)
			s.Observe("t", []lease.Event{granted(1)})
			flush(t, s)

			lose(t, file)
			s.Observe("t", []lease.Event{granted(2)})
			eventually(t, "the event is written", func() bool { return s.Stats().Written == 2 && !s.Stats().Failing })
			if n := log.count("removed or replaced"); n != 1 {
				t.Errorf("logged %d times, want once", n)
			}
			if got := query(t, s, history.Query{}); len(got) != 1 || got[0].Fence != granted(2).Fence {
				t.Errorf("the store reads %+v, want the second event alone", got)
			}
			if err := s.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			got, err := history.Read(t.Context(), history.Options{Path: file}, history.Query{})
			if err != nil || len(got) != 1 {
				t.Errorf("the next start reads %+v, %v; want the second event", got, err)
			}
		})
	}
}

// Who empties the files in place, as a shell does that writes to them, costs what was in them and no more.
func TestFilesThatAreCutAreBegunAnew(t *testing.T) {
	file := path(t)
	o, _ := fragile(file)
	s := open(t, o)
	s.Observe("t", []lease.Event{granted(1)})
	flush(t, s)
	if got := query(t, s, history.Query{}); len(got) != 1 { // readers have it open, too
		t.Fatalf("read %d events, want 1", len(got))
	}
	for _, name := range []string{file, file + "-wal", file + "-shm"} {
		if err := os.Truncate(name, 0); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 10 {
		s.Observe("t", []lease.Event{granted(2 + n)})
	}
	eventually(t, "it is written again", func() bool { return s.Stats().Written == 11 && !s.Stats().Failing })
	if got := query(t, s, history.Query{}); len(got) != 10 {
		t.Errorf("read %d events, want 10", len(got))
	}
}
