package client

import (
	"time"

	"legible.sh/mutex/api"
)

// AcquireOption sets one thing of [Client.Acquire], [Client.Grant] or [Client.Do].
type AcquireOption func(*request)

// request is what an acquire asks for.
type request struct {
	params        api.AcquireParams
	wait          time.Duration // below 0: as long as the context
	progress      func(Progress)
	progressEvery time.Duration
}

func newRequest(opts []AcquireOption) request {
	r := request{wait: -1}
	for _, opt := range opts {
		opt(&r)
	}
	return r
}

// TTL is how long the lease lives from the grant, and from each renewal: the server takes 100 ms to an hour
// unless set otherwise, and 60 s when this is left out. Others wait that long when this program vanishes.
func TTL(d time.Duration) AcquireOption {
	return func(r *request) { r.params.TTL = seconds(d) }
}

// Wait is how long to queue for a permit, as long as the context lives when this is left out. With 0 the call
// fails at once with [ErrBusy].
func Wait(d time.Duration) AcquireOption {
	return func(r *request) { r.wait = max(d, 0) }
}

// Capacity is how many may hold the topic at once, 1 to 1024. The first to acquire a topic fixes it, 1 when left
// out; later ones must name the same, or none.
func Capacity(n int) AcquireOption {
	return func(r *request) { r.params.Capacity = &n }
}

// Name is who you are, shown to whoever reads the status; the server makes one up when left out.
func Name(s string) AcquireOption {
	return func(r *request) { r.params.Name = optional(s) }
}

// Reason is what you are doing, shown to whoever reads the status.
func Reason(s string) AcquireOption {
	return func(r *request) { r.params.Reason = optional(s) }
}

// Host is the machine you run on, shown to whoever reads the status.
func Host(s string) AcquireOption {
	return func(r *request) { r.params.Host = optional(s) }
}

// PID is your process id, shown to whoever reads the status.
func PID(n int) AcquireOption {
	return func(r *request) {
		if n > 0 {
			r.params.PID = &n
		}
	}
}

// Progress is how a wait stands.
type Progress struct {
	Holders    []string      // names of who holds it, by fence
	Position   int           // the place in line, 1 is next; 0 if unknown
	Waiting    int           // how many wait
	RetryAfter time.Duration // until the earliest lease ends unless renewed; 0 if unknown
	Trouble    error         // why the server gives no clear answer now; the wait goes on
	Patience   time.Duration // with Trouble: for how much longer the server is tried if it stays so; 0 if the wait has no end
}

// OnWait has f told how the wait goes: soon after it began, then every so often (0: not again), and whenever
// the server stops answering or answers again. f is called by the goroutine that acquires, and must not block.
func OnWait(every time.Duration, f func(Progress)) AcquireOption {
	return func(r *request) { r.progress, r.progressEvery = f, every }
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
