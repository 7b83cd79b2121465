package bench

import (
	"context"
	"encoding/json"
	"os"
)

// floorAnswers are bodies that the server gave, for the floor to give again.
type floorAnswers struct{ Acquire, Renew, Status, Release string }

// record asks the server for one answer of each kind.
func (o *Options) record(ctx context.Context) (a floorAnswers, err error) {
	s, err := o.server(ctx)
	if err != nil {
		return a, err
	}
	defer s.stop()
	c, err := s.target.dial(ctx)
	if err != nil {
		return a, err
	}
	defer c.close()
	calls := s.target.calls(o.measurement(s, 1).topic(0), "bench")
	h, err := hold(c, calls)
	if err != nil {
		return a, err
	}
	a.Acquire = string(c.body)
	for _, call := range []struct {
		request []byte
		body    *string
	}{
		{calls.renew.with(h.lease), &a.Renew},
		{calls.status, &a.Status},
		{calls.release.with(h.lease), &a.Release},
	} {
		body, err := c.want(call.request)
		if err != nil {
			return a, err
		}
		*call.body = string(body)
	}
	return a, nil
}

// floorServer starts a floor.
func (o *Options) floorServer(ctx context.Context, answers floorAnswers) (*server, error) {
	line, err := json.Marshal(answers)
	if err != nil {
		return nil, err
	}
	c, err := startChild(ctx, command{argv: o.FloorServer, env: os.Environ(), stdin: string(line) + "\n"})
	if err != nil {
		return nil, err
	}
	t, err := parseTarget(c.url, o.Token)
	if err != nil {
		c.stop()
		return nil, err
	}
	return &server{target: t, admin: t, process: process(c.pid), isFloor: true, child: c}, nil
}
