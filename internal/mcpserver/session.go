package mcpserver

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"legible.sh/mutex/api/client"
)

// session is one agent's, with the leases that are kept alive for it.
type session struct {
	peer   *mcp.ServerSession
	ctx    context.Context // of all its calls
	cancel context.CancelFunc

	mu    sync.Mutex // guards what follows, for the goroutines of calls and of leases that are lost
	ended bool
	held  map[string]*hold // by topic
	news  []string         // of lost leases, not told yet
}

// hold is a lease that is kept, or an acquire on its way to one.
type hold struct {
	lease  *client.Lease // nil: on its way
	bearer string        // the Authorization that it was taken with
}

func newSession(peer *mcp.ServerSession) *session {
	s := &session{peer: peer, held: make(map[string]*hold)}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// reserve makes room for a lease on topic, or gives the one that is there.
func (s *session) reserve(topic, bearer string) (there *client.Lease, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.held[topic]
	switch {
	case s.ended:
		return nil, errEnded
	case h == nil:
		s.held[topic] = &hold{bearer: bearer}
		return nil, nil
	case h.lease == nil:
		return nil, fmt.Errorf("this session waits for %s already: let that call end first", topic)
	}
	return h.lease, h.allows(bearer)
}

// allows keeps who has only the session's id from using the leases of who has a token.
func (h *hold) allows(bearer string) error {
	if subtle.ConstantTimeCompare([]byte(h.bearer), []byte(bearer)) != 1 {
		return errors.New("the lease was taken with another token: send that one")
	}
	return nil
}

// allows tells whether a bearer may use all that is kept.
func (s *session) allows(bearer string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.held {
		if err := h.allows(bearer); err != nil {
			return err
		}
	}
	return nil
}

// settle puts the lease into the room that reserve made, or gives the room up if there is none.
func (s *session) settle(topic string, l *client.Lease) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l == nil {
		delete(s.held, topic)
		return nil
	}
	if s.ended {
		return errEnded
	}
	s.held[topic].lease = l
	context.AfterFunc(l.Context(), func() { s.over(l) })
	return nil
}

// over notes that a lease has ended, which is news unless it was given back.
func (s *session) over(l *client.Lease) {
	cause := l.Err()
	if errors.Is(cause, client.ErrReleased) {
		return
	}
	text := lost(l.Topic(), l.Fence(), cause)
	s.mu.Lock()
	if h := s.held[l.Topic()]; h != nil && h.lease == l {
		delete(s.held, l.Topic())
	}
	s.news = append(s.news, text)
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(s.ctx, time.Second)
	defer cancel()
	// For clients that show such things. The others are told with the next result.
	//lint:ignore SA1019 Clients of today show it; it goes when the protocol drops it.
	_ = s.peer.Log(ctx, &mcp.LoggingMessageParams{Level: "critical", Logger: "mutex", Data: text})
}

// lost is what the holder of a lease must hear when it is gone.
func lost(topic string, fence int64, cause error) string {
	return fmt.Sprintf("LOST: the lease on %s under fence %d is gone%s. Stop the work under it at once: another may hold %s now. "+
		"To go on, acquire again and start over under the new fence.", topic, fence, because(cause), topic)
}

// because is what there is to add on why a lease is gone: nothing if the server said so, in the words around this.
func because(cause error) string {
	if !errors.Is(cause, client.ErrUnconfirmed) && errors.Is(cause, client.ErrLost) {
		return ""
	}
	return " (" + strings.TrimSuffix(strings.TrimPrefix(plain(cause), "the lease is lost: "), ".") + ")"
}

// plain is a cause without the name of the package in front.
func plain(err error) string { return strings.TrimPrefix(err.Error(), "mutex: ") }

// keeps gives the lease on topic to who may use it.
func (s *session) keeps(topic, bearer string) (*client.Lease, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.held[topic]
	if h == nil || h.lease == nil {
		return nil, fmt.Errorf("this session keeps no lease on %s: see held, or say which lease", topic)
	}
	return h.lease, h.allows(bearer)
}

// forget takes a lease out of the session.
func (s *session) forget(l *client.Lease) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h := s.held[l.Topic()]; h != nil && h.lease == l {
		delete(s.held, l.Topic())
	}
}

// leases gives what is held, by topic.
func (s *session) leases() []*client.Lease {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*client.Lease
	for _, h := range s.held {
		if h.lease != nil {
			all = append(all, h.lease)
		}
	}
	slices.SortFunc(all, func(a, b *client.Lease) int { return strings.Compare(a.Topic(), b.Topic()) })
	return all
}

// takeNews gives what is to be told of lost leases, once.
func (s *session) takeNews() []mcp.Content {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []mcp.Content
	for _, text := range s.news {
		all = append(all, &mcp.TextContent{Text: text})
	}
	s.news = nil
	return all
}

// goodbye bounds the time that giving leases back takes.
const goodbye = 5 * time.Second

// end cancels the calls of the session, and gives its leases back if it ends in order. Else they are left to their ttl.
func (s *session) end(inOrder bool) {
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	s.cancel()
	var all sync.WaitGroup
	for _, l := range s.leases() {
		all.Go(func() {
			if inOrder {
				giveBack(l)
			} else {
				lapse(l)
			}
		})
	}
	all.Wait()
}

// giveBack releases a lease, in the time that a goodbye may take; else it ends by its ttl.
func giveBack(l *client.Lease) {
	ctx, cancel := context.WithTimeout(context.Background(), goodbye)
	defer cancel()
	_ = l.Release(ctx)
}

// lapse stops renewing a lease without giving it back.
func lapse(l *client.Lease) {
	over, cancel := context.WithCancel(context.Background())
	cancel()
	_ = l.Release(over) // has no time to send anything
}
