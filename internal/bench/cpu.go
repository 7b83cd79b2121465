package bench

import (
	"context"
	"os"
	"time"
)

// cpuTimes is how long the processors worked.
type cpuTimes struct{ server, client time.Duration }

// cpuBetween is the CPU time between two moments to come. It is 0 if the server's process is unknown.
func (s *server) cpuBetween(ctx context.Context, from, until time.Time) (spent cpuTimes, err error) {
	if s.process == 0 {
		return spent, nil
	}
	if err := sleepUntil(ctx, from); err != nil {
		return spent, err
	}
	before, err := s.cpu()
	if err != nil {
		return spent, err
	}
	if err := sleepUntil(ctx, until); err != nil {
		return spent, err
	}
	after, err := s.cpu()
	return cpuTimes{after.server - before.server, after.client - before.client}, err
}

// cpu is the CPU time so far, of the server and of this process.
func (s *server) cpu() (c cpuTimes, err error) {
	if c.server, err = s.process.cpu(); err != nil {
		return c, err
	}
	c.client, err = process(os.Getpid()).cpu()
	return c, err
}

func sleepUntil(ctx context.Context, t time.Time) error {
	timer := time.NewTimer(time.Until(t))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
