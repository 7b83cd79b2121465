package topicactor

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"legible.sh/mutex/internal/lease"
)

const (
	// watchBuffer is how many frames a watcher may lie behind before it is cut off.
	watchBuffer = 64
	// ringSize is how many frames are kept for a watcher that reconnects.
	ringSize = 64
)

// Frame is one thing that happened on a topic, or its whole status. It is shared: do not change it.
// Holders and Waiting are those after the step that the event was part of: the release that let the next one in
// shows the next one.
type Frame struct {
	ID       string // epoch-seq
	Kind     lease.Kind
	At       time.Time
	Topic    lease.Topic
	Status   *lease.Status // the whole status, when this frame is one; Kind is 0 then
	Name     string
	Fence    lease.Fence
	Capacity int
	Holders  []string
	Waiting  int

	seq  uint64
	once sync.Once
	text []byte
}

// Text gives the frame in its wire form. The first watcher to ask renders it for all.
func (f *Frame) Text(render func(*Frame) []byte) []byte {
	f.once.Do(func() { f.text = render(f) })
	return f.text
}

// Watch is one subscription to a topic.
type Watch struct {
	frames chan *Frame
	first  []*Frame // what to show before anything new
	after  string   // the last id that the watcher saw, before a reconnect
	from   uint64   // frames up to this one are in first
	why    error    // set before frames is closed
}

// First gives what the watcher is to see at once: the status, or what it missed since the id it gave.
func (w *Watch) First() []*Frame { return w.first }

// Frames gives what happens from then on. It is closed when the watcher fell behind or the topic ends; [Watch.Err]
// says which.
func (w *Watch) Frames() <-chan *Frame { return w.frames }

// ErrLagged says that a watcher did not keep up.
var ErrLagged = fmt.Errorf("the watcher fell %d events behind", watchBuffer)

// Err says why the frames ended. It may be read once they are closed.
func (w *Watch) Err() error { return w.why }

// Watch subscribes to the topic. After is the id of the last frame seen, if any. [Actor.Unwatch] must follow.
func (a *Actor) Watch(ctx context.Context, after string) (*Watch, error) {
	w := &Watch{frames: make(chan *Frame, watchBuffer), after: after}
	if err := a.tell(ctx, &request{watch: w}); err != nil {
		return nil, err
	}
	return w, nil
}

// Unwatch ends a subscription.
func (a *Actor) Unwatch(w *Watch) {
	_ = a.tell(context.Background(), &request{watch: w, leaving: true}) // an error means the topic ended, and with it the subscription
}

func (a *Actor) tell(ctx context.Context, r *request) error {
	r.answered = make(chan struct{}, 1)
	if err := a.send(ctx, r); err != nil {
		return err
	}
	<-r.answered
	return r.err
}

// watched is the part of a topic that its watchers see. It is nil, and nothing is kept, until somebody watches.
type watched struct {
	epoch    string // of this actor's sequence: another actor of the same name has another
	seq      uint64
	ring     []*Frame // the last frames, oldest first
	watchers map[*Watch]struct{}
}

// note makes the frame of an event, if anybody may ever ask for it.
func (w *watched) note(t *topic, e *lease.Event, out *outgoing) {
	if w == nil || !visible(e.Kind) {
		return
	}
	w.seq++
	w.keep(&Frame{
		ID: w.id(), seq: w.seq, Kind: e.Kind, At: e.At, Topic: t.topic, Name: e.Who.Name, Fence: e.Fence,
		Capacity: t.state.Capacity(), Holders: t.state.HolderNames(), Waiting: t.state.Waiting(),
	}, out)
}

// visible tells what a watcher can see: holders come and go, the queue grows and shrinks.
func visible(k lease.Kind) bool {
	switch k {
	case lease.Granted, lease.Renewed, lease.Released, lease.Expired, lease.Forced, lease.Enqueued, lease.Left:
		return true
	}
	return false
}

func (w *watched) id() string { return fmt.Sprintf("%s-%d", w.epoch, w.seq) }

// subscription begins or ends one.
func (t *topic) subscription(r *request, out *outgoing) {
	if t.watched == nil {
		t.watched = &watched{epoch: strings.ToLower(rand.Text()[:10]), watchers: make(map[*Watch]struct{})}
	}
	w := t.watched
	if r.leaving {
		delete(w.watchers, r.watch)
	} else {
		w.watchers[r.watch] = struct{}{}
		r.watch.from = w.seq
		r.watch.first = w.catchUp(t, r.watch.after)
	}
	out.answer(r, nil)
}

// catchUp gives the frames after the one with an id, if they are all still here, else the status. The id may be of a status,
// which is in no ring.
func (w *watched) catchUp(t *topic, after string) []*Frame {
	if seen, ok := w.sequence(after); ok {
		if seen == w.seq {
			return nil
		}
		if i := slices.IndexFunc(w.ring, func(f *Frame) bool { return f.seq > seen }); i >= 0 && w.ring[i].seq == seen+1 {
			return slices.Clone(w.ring[i:])
		}
	}
	st := t.state.Status()
	return []*Frame{{ID: w.id(), Topic: t.topic, Status: &st}}
}

// sequence is the number in an id of this topic's.
func (w *watched) sequence(id string) (uint64, bool) {
	number, ours := strings.CutPrefix(id, w.epoch+"-")
	n, err := strconv.ParseUint(number, 10, 64)
	return n, ours && err == nil
}

// takeBack forgets what a turn that failed would have shown.
func (w *watched) takeBack(out *outgoing) {
	if w == nil {
		return
	}
	w.ring = w.ring[:len(w.ring)-min(len(w.ring), len(out.frames))]
	out.frames = out.frames[:0]
	for _, r := range out.answers {
		if r.watch != nil {
			delete(w.watchers, r.watch)
		}
	}
}

// restate shows the whole topic to everybody who watches it, because what they know may no longer hold.
func (w *watched) restate(t *topic, now time.Time, out *outgoing) {
	if w == nil {
		return
	}
	w.seq++
	st := t.state.Status()
	w.keep(&Frame{ID: w.id(), seq: w.seq, At: now, Topic: t.topic, Status: &st}, out)
}

// keep puts a frame into the ring and on its way.
func (w *watched) keep(f *Frame, out *outgoing) {
	if len(w.ring) == ringSize {
		copy(w.ring, w.ring[1:])
		w.ring = w.ring[:ringSize-1]
	}
	w.ring = append(w.ring, f)
	out.frames = append(out.frames, f)
}

// deliver hands the frames to the watchers; one whose buffer is full is cut off.
func (w *watched) deliver(frames []*Frame) {
	for _, f := range frames {
		for to := range w.watchers {
			if f.seq <= to.from {
				continue
			}
			select {
			case to.frames <- f:
			default:
				w.cut(to, ErrLagged)
			}
		}
	}
}

func (w *watched) cut(to *Watch, why error) {
	to.why = why
	close(to.frames)
	delete(w.watchers, to)
}

func (w *watched) end() {
	if w == nil {
		return
	}
	for to := range w.watchers {
		w.cut(to, ErrStopped)
	}
}
