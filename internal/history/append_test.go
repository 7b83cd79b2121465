package history_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"legible.sh/mutex/internal/history"
)

func key(n int) history.Event {
	return history.Event{
		At: start.Add(time.Duration(n) * time.Second).UTC(), Kind: history.Reclaimed, Topic: "deploy/prod.eu",
		LeaseID: token(n).ID(), Name: "agent@box", Host: "box", PID: n, Fence: 9, TTL: 15 * time.Minute, Detail: "was cleared",
	}
}

func TestAppendedEventsCanBeReadAtOnce(t *testing.T) {
	o := history.Options{Path: filepath.Join(t.TempDir(), "a dir?with#odd %41 name.db")}
	read := func() []history.Event {
		t.Helper()
		got, err := history.Read(t.Context(), o, history.Query{Topic: "deploy/prod.eu"})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	same(t, read(), nil)
	if _, err := os.Stat(o.Path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("reading made a file: %v", err)
	}
	first, second := key(1), key(2)
	for _, e := range []history.Event{first, second} {
		if err := history.Append(t.Context(), o, e); err != nil {
			t.Fatal(err)
		}
	}
	first.ID, second.ID = 1, 2
	same(t, read(), []history.Event{second, first})

	files, err := os.ReadDir(filepath.Dir(o.Path))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if info, err := f.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s is %v, %v; want 0600", f.Name(), info.Mode(), err)
		}
	}
}

// appendCount makes this test binary a process that appends so many events.
const appendCount = "HISTORY_TEST_APPEND"

func TestMain(m *testing.M) {
	n, err := strconv.Atoi(os.Getenv(appendCount))
	if err != nil {
		os.Exit(m.Run())
	}
	for i := range n {
		if err := history.Append(context.Background(), history.Options{Path: os.Args[1], Busy: 20 * time.Second}, key(i)); err != nil {
			panic(err)
		}
	}
}

func TestSeveralProcessesAppendAtTheSameTime(t *testing.T) {
	const processes, each = 8, 25
	file := path(t)
	var running []*exec.Cmd
	for range processes {
		cmd := exec.Command(os.Args[0], file)
		cmd.Env = append(os.Environ(), appendCount+"="+strconv.Itoa(each))
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		running = append(running, cmd)
	}
	for _, cmd := range running {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	got, err := history.Read(t.Context(), history.Options{Path: file}, history.Query{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != processes*each {
		t.Errorf("%d events, want %d", len(got), processes*each)
	}
	for i, e := range got {
		if want := int64(processes*each - i); e.ID != want {
			t.Fatalf("event %d has the id %d, want %d", i, e.ID, want)
		}
	}
}

func TestAppendDoesNotWaitLongForALock(t *testing.T) {
	o := history.Options{Path: path(t), Busy: time.Millisecond}
	if err := history.Append(t.Context(), o, key(1)); err != nil {
		t.Fatal(err)
	}
	release := lock(t, o.Path)
	if err := history.Append(t.Context(), o, key(2)); !isUnavailable(err) {
		t.Errorf("Append under a lock: %v, want ErrUnavailable", err)
	}
	if _, err := history.Read(t.Context(), o, history.Query{}); !isUnavailable(err) {
		t.Errorf("Read under a lock: %v, want ErrUnavailable", err)
	}
	release()
	if err := history.Append(t.Context(), o, key(3)); err != nil {
		t.Error(err)
	}
}

func TestAppendSetsADamagedFileAside(t *testing.T) {
	o := history.Options{Path: path(t)}
	if err := os.WriteFile(o.Path, []byte("this is not a database, and long enough to be taken for one: "+t.Name()), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := history.Append(t.Context(), o, key(1)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(o.Path + ".corrupt"); err != nil {
		t.Error(err)
	}
}

func TestAppendKeepsTheDatabaseSmall(t *testing.T) {
	o := history.Options{Path: path(t), MaxBytes: 300 << 10}
	batch := make([]history.Event, 100)
	for n := range 100 {
		for i := range batch {
			batch[i] = key(n)
		}
		if err := history.Append(t.Context(), o, batch...); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(o.Path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > 500<<10 {
		t.Errorf("the file has %d bytes", info.Size())
	}
}
