package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// ServeFloor is the whole of a floor's process: it reads from in what to answer, writes its URL to out, and serves
// until in or the context ends. Only [Run] knows what to say to it.
func ServeFloor(ctx context.Context, in io.Reader, out io.Writer) error {
	lines := bufio.NewReader(in)
	line, err := lines.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("floor: nothing to answer: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	f := &floor{ended: ctx.Done(), live: map[string]*bareTopic{}}
	if err := json.Unmarshal(line, &f.answers); err != nil {
		return fmt.Errorf("floor: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("floor: %w", err)
	}
	server := &http.Server{Handler: f, BaseContext: func(net.Listener) context.Context { return ctx }}
	go func() { // the end of in is how a parent that was killed tells it
		_, _ = io.Copy(io.Discard, lines)
		cancel()
	}()
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if _, err := fmt.Fprintf(out, "url=http://%s\n", listener.Addr()); err != nil {
		return err
	}
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("floor: %w", err)
	}
	return nil
}

// floor answers as a lock service would, and does nothing.
type floor struct {
	answers floorAnswers
	ended   <-chan struct{}
	parked  atomic.Int64
	journal atomic.Pointer[os.File] // nil: nothing is stored

	mu   sync.Mutex // guards live, which requests share
	live map[string]*bareTopic
}

func (f *floor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/renew"):
		reply(w, f.answers.Renew)
	case r.Method == http.MethodPost && strings.Contains(r.URL.RawQuery, "wait="):
		f.park(r)
	case r.Method == http.MethodPost && r.URL.Path == collectPath:
		runtime.GC()
	case r.Method == http.MethodPost && r.URL.Path == syncPath:
		f.startSyncing(w, r.URL.Query().Get("dir"))
	case r.Method == http.MethodPost:
		if r.Header[liveHeader] != nil {
			f.makeLive(r.URL.Path)
		}
		f.replySynced(w, f.answers.Acquire)
	case r.Method == http.MethodDelete:
		f.replySynced(w, f.answers.Release)
	case r.URL.RawQuery == "parked":
		reply(w, fmt.Sprintf("{\"waiting\": %d}\n", f.parked.Load()))
	default:
		reply(w, f.answers.Status)
	}
}

// collectPath is where a floor collects its garbage, as the profiler has a server do.
const collectPath = "/-/collect"

// syncPath is where a floor is told to store a record before each answer that a lock service would store one for, in a
// file of its own in the directory that the parameter dir names.
const syncPath = "/-/sync"

func (f *floor) startSyncing(w http.ResponseWriter, dir string) {
	file, err := os.CreateTemp(dir, "floor-") // open as long as the process lives
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	f.journal.Store(file)
}

// replySynced is reply, behind a record on the disk if the floor was told so.
func (f *floor) replySynced(w http.ResponseWriter, body string) {
	if file := f.journal.Load(); file != nil {
		if err := appendSynced(file); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	}
	reply(w, body)
}

// liveHeader tells a floor to keep what a live topic needs at the least.
const liveHeader = "Mutex-Bench-Live"

// park holds a request until its client goes away or the floor ends.
func (f *floor) park(r *http.Request) {
	f.parked.Add(1)
	defer f.parked.Add(-1)
	<-r.Context().Done()
}

// bareTopic is the least that a topic with an owner can be: a goroutine, a channel, a timer.
type bareTopic struct{ mailbox chan struct{} }

func (f *floor) makeLive(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.live[name] == nil {
		t := &bareTopic{mailbox: make(chan struct{})}
		f.live[name] = t
		go t.loop(f.ended)
	}
}

// loop is the owner's goroutine; it ends with the floor.
func (t *bareTopic) loop(ended <-chan struct{}) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		select {
		case <-t.mailbox:
		case <-timer.C:
		case <-ended:
			return
		}
	}
}

// reply writes what a handler of few lines would.
func reply(w http.ResponseWriter, body string) {
	h := w.Header()
	h["Content-Type"] = jsonType
	h["Cache-Control"] = noStore
	_, _ = io.WriteString(w, body) // the client is gone if this fails
}

var jsonType, noStore = []string{"application/json"}, []string{"no-store"}
