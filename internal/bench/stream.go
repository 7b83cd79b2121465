package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http/httputil"
)

// event is one event of a stream.
type event struct {
	kind string
	name string // of the holder whom it is about
}

// stream reads server-sent events from a connection.
type stream struct{ lines *bufio.Reader }

// open asks for a topic's events.
func (c *conn) open(request []byte) (*stream, error) {
	if err := c.send(request); err != nil {
		return nil, err
	}
	h, err := c.receiveHead()
	if err != nil {
		return nil, err
	}
	if h.status != 200 {
		err := c.readBody(h)
		if err == nil {
			err = answer{h.status, c.body}.ok(request)
		}
		return nil, err
	}
	var body io.Reader = c.read
	if h.chunked {
		body = httputil.NewChunkedReader(c.read)
	}
	return &stream{bufio.NewReader(body)}, nil
}

// next is the next event; comments are passed over.
func (s *stream) next() (e event, err error) {
	for {
		line, err := s.lines.ReadSlice('\n')
		if err != nil {
			return e, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if kind, ok := bytes.CutPrefix(line, []byte("event: ")); ok {
			e.kind = string(kind)
		} else if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok {
			if err := json.Unmarshal(data, &struct{ Name *string }{&e.name}); err != nil {
				return e, fmt.Errorf("an event is no JSON: %w", err)
			}
		} else if len(line) == 0 && e.kind != "" {
			return e, nil
		}
	}
}
