package topicactor

import (
	"sync"
	"sync/atomic"
	"time"

	"legible.sh/mutex/internal/lease"
)

const (
	// mailboxSize is how many requests may lie in a topic's mailbox before senders wait.
	mailboxSize = 8
	// turnSize bounds a turn, so that the first answer of a busy topic does not wait for ever more requests.
	turnSize = 64
)

// Journal makes events safe. Implementations serve many actors at once; one actor calls it from its own goroutine.
type Journal interface {
	// Append returns when the durable ones among the events are safe. It must not keep the slice. On an error the
	// actor shows nothing of the events, and goes back to what Recall gives; lease.ErrSuspended says that none was stored.
	Append(topic lease.Topic, events []lease.Event) error
	// Recall gives the events that rebuild a topic as it was last acknowledged, their times on the clock of now.
	Recall(topic lease.Topic, now time.Time) []lease.Event
	// Suspended tells that no grants can be kept safe at present. It is asked once a turn, and if it is so, once more
	// before the turn is stored.
	Suspended() bool
}

// Config is what actors need; thousands share one, which must not change any more. Journal and Gate must be set.
type Config struct {
	Keep    time.Duration // how long a ticket keeps the place of one who is away
	Journal Journal
	// Gate is closed when the actor may begin: not before the journal was read back.
	Gate <-chan struct{}
	// Observe is shown events once they are safe. It must neither block nor keep the slice. May be nil.
	Observe func(lease.Topic, []lease.Event)
	// OnIdle is called when the topic became idle in a turn that answered nobody, or none but who had abandoned an
	// acquire. May be nil.
	OnIdle func(*Actor)

	requests pool
	running  sync.WaitGroup
}

// Wait returns when all actors that share the config have ended.
func (c *Config) Wait() { c.running.Wait() }

// Actor is the handle of one topic's goroutine.
type Actor struct {
	topic   lease.Topic
	config  *Config
	mailbox chan *request

	stopping atomic.Bool // set by Stop
	ended    atomic.Bool // set by the loop when it has
	fired    atomic.Bool // set by the timer, taken back by the loop before it sets the timer again

	// Published by the loop before it answers, read by the registry.
	life    atomic.Uint32 // a life
	fence   atomic.Uint64
	held    atomic.Int32
	waiting atomic.Int32
}

// life is what the loop publishes of its state.
type life uint32

const (
	pristine life = iota // never used: as if it did not exist
	idle                 // used, but nothing lives in it
	busy
)

// Start begins a topic's goroutine. Its fences start above floor. It runs until [Actor.Stop].
func Start(topic lease.Topic, floor lease.Fence, c *Config) *Actor {
	a := &Actor{
		topic:   topic,
		config:  c,
		mailbox: make(chan *request, mailboxSize),
	}
	a.fence.Store(uint64(floor))
	a.life.Store(uint32(busy)) // until the loop has looked
	c.running.Add(1)
	go a.loop()
	return a
}

// Topic is the topic's name.
func (a *Actor) Topic() lease.Topic { return a.topic }

// Signals are messages that say nothing but that they came, so that all topics share them. They may be lost when the
// mailbox is full: a turn is coming then, which does all that they ask for, or sets the timer to have it done.
var (
	wake = new(request) // the timer fired
	poke = new(request) // settle, whatever the time
)

func (a *Actor) signal(s *request) {
	select {
	case a.mailbox <- s:
	default:
	}
}

// wake is run by the timer. The signal may be lost, or taken by a turn that read the clock too early to do what is due;
// that it fired may not, or nobody would set the timer again.
func (a *Actor) wake() {
	a.fired.Store(true)
	a.signal(wake)
}

// Poke makes the topic settle again, because the journal's state changed.
func (a *Actor) Poke() { a.signal(poke) }

// Stop ends the goroutine, once the gate is open: whoever waits is told [ErrStopped], watchers get their last frame. It
// does not wait; [Config.Wait] does.
func (a *Actor) Stop() {
	a.stopping.Store(true)
	a.signal(poke)
}

// Idle tells whether the topic could be reaped: no lease, no place, no key to remember.
func (a *Actor) Idle() bool { return life(a.life.Load()) != busy }

// Pristine tells whether nobody was ever granted anything here, so that nothing is lost by forgetting the name.
func (a *Actor) Pristine() bool { return life(a.life.Load()) == pristine }

// Load is how many hold the topic and how many wait for it, as of the last turn.
func (a *Actor) Load() (held, waiting int) { return int(a.held.Load()), int(a.waiting.Load()) }

// Fence is the highest fence granted so far.
func (a *Actor) Fence() lease.Fence { return lease.Fence(a.fence.Load()) }
