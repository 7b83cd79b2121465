package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"legible.sh/mutex/api"
	"legible.sh/mutex/api/client"
)

func (s *Server) status(ctx context.Context, req *mcp.CallToolRequest, in topicArg) (*mcp.CallToolResult, any, error) {
	c, err := s.caller(req.Session, req.Extra)
	if err != nil {
		return nil, nil, err
	}
	status, err := c.Status(ctx, in.Topic)
	if err != nil {
		return nil, nil, refused(in.Topic, err)
	}
	return nil, status, nil
}

type waitArgs struct {
	Topic   string   `json:"topic" jsonschema:"the name of what is locked"`
	Timeout *float64 `json:"timeout,omitempty" jsonschema:"seconds after which to return in any case, up to 300; 30 if left out"`
}

// waited is what wait answers.
type waited struct {
	Ended  bool             `json:"ended"` // the topic is free, or a lease on it has ended
	Status *api.TopicStatus `json:"status"`
}

func (s *Server) wait(ctx context.Context, req *mcp.CallToolRequest, in waitArgs) (*mcp.CallToolResult, any, error) {
	c, err := s.caller(req.Session, req.Extra)
	if err != nil {
		return nil, nil, err
	}
	timeout, err := patience("timeout", in.Timeout)
	if err != nil {
		return nil, nil, err
	}
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	ended, err := follow(limited, c.Client, in.Topic)
	if err == nil {
		var status *api.TopicStatus
		if status, err = c.Status(ctx, in.Topic); err == nil {
			return nil, waited{ended || status.State == api.TopicStateFree, status}, nil
		}
	}
	return nil, nil, refused(in.Topic, err)
}

// follow watches a topic until it is free or a lease on it ends, or ctx does.
func follow(ctx context.Context, c *client.Client, topic string) (ended bool, err error) {
	for e, err := range c.Watch(ctx, topic) {
		switch {
		case errors.Is(err, client.ErrUnreachable):
			continue // it tries again
		case err != nil:
			return false, err
		case e.Status != nil && e.Status.State == api.TopicStateFree:
			return true, nil
		case e.Type == client.EventRelease, e.Type == client.EventExpire, e.Type == client.EventForceRelease:
			return true, nil
		}
	}
	return false, nil
}

// The resources.
const (
	heldURI    = "mutex://held"
	topicsURI  = "mutex://topics/"
	jsonFormat = "application/json"
)

func (s *Server) addResources() {
	s.mcp.AddResource(&mcp.Resource{
		URI: heldURI, Name: "held", Title: "What this session holds", MIMEType: jsonFormat,
		Description: "The leases that this session keeps, with their fences.",
	}, func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return contents(heldURI, s.holding(req.Session))
	})
	s.mcp.AddResourceTemplate(&mcp.ResourceTemplate{
		URITemplate: topicsURI + "{+topic}", Name: "status", Title: "Who holds a topic", MIMEType: jsonFormat,
		Description: "Who holds a topic and who waits. " + strangers,
	}, s.readTopic)
}

func (s *Server) readTopic(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	topic, err := url.PathUnescape(strings.TrimPrefix(req.Params.URI, topicsURI))
	if err != nil {
		return nil, mcp.ResourceNotFoundError(req.Params.URI)
	}
	c, err := s.caller(req.Session, req.Extra)
	if err != nil {
		return nil, err
	}
	status, err := c.Status(ctx, topic)
	if errors.Is(err, client.ErrBadTopic) {
		return nil, mcp.ResourceNotFoundError(req.Params.URI)
	}
	if err != nil {
		return nil, refused(topic, err)
	}
	return contents(req.Params.URI, status)
}

func contents(uri string, v any) (*mcp.ReadResourceResult, error) {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, err
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: jsonFormat, Text: string(b)}}}, nil
}
