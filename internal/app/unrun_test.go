package app_test

import (
	"bytes"
	"net/http"
	"runtime/pprof"
	"testing"
	"time"

	"legible.sh/mutex/internal/app"
)

// A server that was made and never run leaves nothing behind: the topics that its journal knows have goroutines from the
// beginning, which wait for it to run.
func TestAServerThatNeverRanLeavesNothing(t *testing.T) {
	data := t.TempDir()
	o := func() app.Options { return options(t, map[string]string{"MUTEX_DATA_DIR": data}) }
	s := start(t, o())
	if code, body := call(t, http.DefaultClient, "POST", s.URL()+"/left?ttl=60"); code != 201 && code != 200 {
		t.Fatal(code, body)
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	unrun, err := app.New(o())
	if err != nil {
		t.Fatal(err)
	}
	if err := unrun.Close(); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(10 * time.Second)
	for ; actors(t); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("topics of a server that never ran still have their goroutines")
		}
	}
}

// actors tells whether any topic has a goroutine.
func actors(t *testing.T) bool {
	t.Helper()
	var stacks bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&stacks, 1); err != nil {
		t.Fatal(err)
	}
	return bytes.Contains(stacks.Bytes(), []byte("topicactor.(*Actor).loop"))
}
