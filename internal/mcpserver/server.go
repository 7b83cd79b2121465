package mcpserver

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"legible.sh/mutex/api/client"
	"legible.sh/mutex/internal/teach"
)

// Dial gives the client that speaks for one call. The header is that of the HTTP request that brought it, nil on stdio.
type Dial func(http.Header) (*client.Client, error)

// Options are what a server is made from. Dial must be set.
type Options struct {
	Dial    Dial
	Version string
	Host    string // shown as where holders run; "" for unknown
	PID     int    // likewise; 0 for unknown
}

// Server has the tools and the sessions that use them.
type Server struct {
	options Options
	mcp     *mcp.Server

	mu       sync.Mutex // guards sessions, for the goroutines of calls
	sessions map[*mcp.ServerSession]*session
}

// errEnded is why a call of a session that ends is cancelled.
var errEnded = errors.New("the session has ended: nothing was taken")

// New makes a server. It starts nothing.
func New(o Options) *Server {
	s := &Server{options: o, sessions: make(map[*mcp.ServerSession]*session)}
	s.mcp = mcp.NewServer(&mcp.Implementation{Name: "mutex", Title: "Named leases", Version: o.Version}, &mcp.ServerOptions{
		Instructions: teach.Instructions(), // and no Logger: it would write the ids of sessions, which are secrets
	})
	s.mcp.AddReceivingMiddleware(s.within)
	s.addTools()
	s.addResources()
	return s
}

// within ends calls with their session, and has every result begin with the leases that were lost meanwhile.
func (s *Server) within(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		peer, ok := req.GetSession().(*mcp.ServerSession)
		if method != "tools/call" || !ok {
			return next(ctx, method, req)
		}
		own := s.session(peer)
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		defer context.AfterFunc(own.ctx, func() { cancel(errEnded) })()
		result, err := next(ctx, method, req)
		if r, ok := result.(*mcp.CallToolResult); ok && err == nil {
			r.Content = append(own.takeNews(), r.Content...)
		}
		return result, err
	}
}

// session gives what the server knows of a session.
func (s *Server) session(peer *mcp.ServerSession) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	own := s.sessions[peer]
	if own == nil {
		own = newSession(peer)
		s.sessions[peer] = own
	}
	return own
}

// interrupt cancels the calls of all sessions.
func (s *Server) interrupt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, own := range s.sessions {
		own.cancel()
	}
}

// drop forgets the sessions that match and ends them, in order or not.
func (s *Server) drop(match func(*mcp.ServerSession) bool, inOrder bool) {
	s.mu.Lock()
	var ending []*session
	for peer, own := range s.sessions {
		if match(peer) {
			ending = append(ending, own)
			delete(s.sessions, peer)
		}
	}
	s.mu.Unlock()
	for _, own := range ending {
		own.end(inOrder)
	}
}

// may tells whether a bearer may use all that the sessions that match keep.
func (s *Server) may(match func(*mcp.ServerSession) bool, bearer string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for peer, own := range s.sessions {
		if match(peer) {
			if err := own.allows(bearer); err != nil {
				return err
			}
		}
	}
	return nil
}

func everyone(*mcp.ServerSession) bool { return true }
