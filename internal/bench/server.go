package bench

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"strings"
)

// server is one side of a measurement: where it is, and its process where that is known.
type server struct {
	target  *target
	admin   *target // with the admin's token; nil where there is none
	process process // 0: unknown
	pprof   string  // host:port of its profiler, "" where there is none
	isFloor bool
	child   *child // nil: somebody else's
}

// server starts a fresh server, or finds the one that is there.
func (o *Options) server(ctx context.Context, flags ...string) (*server, error) {
	if o.Self {
		return o.startServer(ctx, flags...)
	}
	t, err := parseTarget(o.URL, o.Token)
	if err != nil {
		return nil, err
	}
	s := &server{target: t, process: process(o.PID), pprof: o.Pprof}
	if o.AdminToken != "" {
		s.admin = t.as(o.AdminToken)
	}
	return s, nil
}

func (o *Options) startServer(ctx context.Context, flags ...string) (*server, error) {
	pprof, err := freeAddress()
	if err != nil {
		return nil, err
	}
	args := append([]string{"--host", "127.0.0.1", "--port", "0", "--pprof", pprof}, flags...)
	secret := rand.Text()
	c, err := startChild(ctx, command{
		argv: append(append(append([]string{}, o.Serve...), args...), o.ServeFlags...),
		env:  append(cleanEnviron(), "MUTEX_ADMIN_TOKEN="+secret),
	})
	if err != nil {
		return nil, err
	}
	t, err := parseTarget(c.url, o.Token)
	if err != nil {
		c.stop()
		return nil, err
	}
	return &server{target: t, admin: t.as(secret), process: process(c.pid), pprof: pprof, child: c}, nil
}

// stop ends the server if it was started here.
func (s *server) stop() {
	if s.child != nil {
		s.child.stop()
	}
}

// cleanEnviron is this process's environment without the settings of a server, so that what is measured is what the
// flags say.
func cleanEnviron() []string {
	var env []string
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "MUTEX_") {
			env = append(env, pair)
		}
	}
	return env
}

// freeAddress is a loopback address that was free a moment ago.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("no free port: %w", err)
	}
	return l.Addr().String(), l.Close()
}
