package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"legible.sh/mutex/api"
	"legible.sh/mutex/api/client"
)

type acquireArgs struct {
	Topic    string   `json:"topic" jsonschema:"the name of what is locked, not of the task: 1 to 64 of a-z A-Z 0-9 _ : -, such as deploy:staging"`
	TTL      float64  `json:"ttl,omitempty" jsonschema:"seconds that others wait if you vanish, 0.1 to 3600; 60 if left out. It is not the length of the work"`
	Wait     *float64 `json:"wait,omitempty" jsonschema:"seconds to wait in line, 0 to 300; 30 if left out, and 0 fails at once"`
	Capacity int      `json:"capacity,omitempty" jsonschema:"how many may hold it at once, 1 to 1024. All who use the topic must say the same, or leave it out"`
	Name     string   `json:"name,omitempty" jsonschema:"who you are, shown to others"`
	Reason   string   `json:"reason,omitempty" jsonschema:"what you are going to do, shown to others"`
	Keep     *bool    `json:"keep,omitempty" jsonschema:"false to get the lease itself and renew it yourself, for work that outlives this session; true if left out"`
}

const (
	defaultTTL  = time.Minute
	defaultWait = 30 * time.Second
	news        = 5 * time.Second // how often who waits is told how it stands
)

// granted is what acquire answers.
type granted struct {
	Topic    string  `json:"topic"`
	Fence    int64   `json:"fence" jsonschema:"write it along with your data, and have the resource refuse a lower one"`
	Slot     int     `json:"slot" jsonschema:"which of capacity is yours, counted from 0"`
	Capacity int     `json:"capacity"`
	Name     string  `json:"name"`
	TTL      float64 `json:"ttl"`
	Kept     bool    `json:"kept" jsonschema:"true: the session keeps it alive until release. false: renew it yourself with lease, every third of ttl"`
	Lease    string  `json:"lease,omitempty" jsonschema:"the secret to renew and release with, only if it is not kept"`
	Next     string  `json:"next" jsonschema:"what to do now"`
}

func (s *Server) acquire(ctx context.Context, req *mcp.CallToolRequest, in acquireArgs) (*mcp.CallToolResult, granted, error) {
	c, err := s.caller(req.Session, req.Extra)
	if err != nil {
		return nil, granted{}, err
	}
	wait, err := patience("wait", in.Wait)
	if err != nil {
		return nil, granted{}, err
	}
	options := append(s.request(ctx, req, in), client.Wait(wait))
	if in.Keep != nil && !*in.Keep {
		g, err := c.Grant(ctx, in.Topic, options...)
		if err != nil {
			return nil, granted{}, refused(in.Topic, err)
		}
		out := grantOf(g, fmt.Sprintf("Renew it every %g s, and release it when the work is done or has failed.", g.TTL/3))
		out.Lease = g.Lease
		return nil, out, nil
	}
	l, err := c.own.reserve(in.Topic, c.bearer)
	if err != nil {
		return nil, granted{}, err
	}
	if l != nil {
		g := l.Grant()
		return nil, keptGrant(&g, "This session has it already."), nil
	}
	l, err = c.Acquire(ctx, in.Topic, options...)
	if e := c.own.settle(in.Topic, l); e != nil {
		giveBack(l)
		return nil, granted{}, e
	}
	if err != nil {
		return nil, granted{}, refused(in.Topic, err)
	}
	g := l.Grant()
	return nil, keptGrant(&g, "Re-read what you are about to change."), nil
}

// patience reads how long to wait.
func patience(name string, given *float64) (time.Duration, error) {
	const most = 300
	switch {
	case given == nil:
		return defaultWait, nil
	case *given < 0 || *given > most:
		return 0, fmt.Errorf("%s: send 0 to %d seconds", name, most)
	}
	return seconds(*given), nil
}

func keptGrant(g *api.Grant, first string) granted {
	out := grantOf(g, first+fmt.Sprintf(" Write fence %d along with your data. Release it when the work is done or has failed.", g.Fence))
	out.Kept = true
	return out
}

func grantOf(g *api.Grant, next string) granted {
	return granted{Topic: g.Topic, Fence: g.Fence, Slot: g.Slot, Capacity: g.Capacity, Name: g.Name, TTL: g.TTL, Next: next}
}

// request is what an acquire asks the server for.
func (s *Server) request(ctx context.Context, req *mcp.CallToolRequest, in acquireArgs) []client.AcquireOption {
	ttl := defaultTTL
	if in.TTL != 0 {
		ttl = seconds(in.TTL)
	}
	name := in.Name
	if p := req.Session.InitializeParams(); name == "" && p != nil && p.ClientInfo != nil {
		name = p.ClientInfo.Name
	}
	options := []client.AcquireOption{
		client.TTL(ttl), client.Name(name), client.Reason(in.Reason), client.Host(s.options.Host), client.PID(s.options.PID),
	}
	if in.Capacity != 0 {
		options = append(options, client.Capacity(in.Capacity))
	}
	if token := req.Params.GetProgressToken(); token != nil {
		options = append(options, client.OnWait(news, reporter(ctx, req.Session, token, in.Topic)))
	}
	return options
}

// reporter tells who called how the wait stands, which also keeps the call from being given up.
func reporter(ctx context.Context, peer *mcp.ServerSession, token any, topic string) func(client.Progress) {
	told := 0.0
	return func(p client.Progress) {
		told++
		text := inTheWay(topic, &client.Error{Holders: p.Holders, Waiting: p.Waiting})
		if p.Trouble != nil {
			text = plain(p.Trouble)
		}
		ctx, cancel := context.WithTimeout(ctx, time.Second) // the wait must not hang on who does not listen
		defer cancel()
		_ = peer.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: told, Message: text})
	}
}

// refused puts an error of the client into words for an agent.
func refused(topic string, err error) error {
	var no *client.Error
	switch {
	case err == nil:
		return nil
	case errors.Is(err, client.ErrLost):
		return fmt.Errorf("LOST: there is no such lease on %s any more. Stop the work under it at once. To go on, acquire again and start over under the new fence", topic)
	case errors.As(err, &no) && (errors.Is(err, client.ErrBusy) || errors.Is(err, client.ErrTimeout)):
		return fmt.Errorf("not granted: %s. You hold nothing: do not start the work. Call acquire again to wait longer, wait=300 at most, or do something else first", inTheWay(topic, no))
	case errors.As(err, &no) && no.Capacity > 0:
		return fmt.Errorf("not granted: the capacity of %s is %d. Say that, or leave capacity out", topic, no.Capacity)
	}
	return errors.New(plain(err))
}
