package bench

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"strings"
)

// Run measures what the options say and prints a report for each scenario and number of connections as soon as it has
// it. Its errors: one under [ErrOptions] for options that cannot be used, before anything ran; a [*ViolationError] for
// a broken promise; else what kept a measurement from its end.
func Run(ctx context.Context, o Options, stdout io.Writer) error {
	if err := o.check(); err != nil {
		return err
	}
	for _, name := range o.Scenarios {
		s, _ := find(name)
		connections := o.Connections
		if s.onePass {
			connections = connections[:1]
		}
		for _, n := range connections {
			report, err := o.run(ctx, s, n)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			if err := report.print(stdout, o.JSON); err != nil {
				return err
			}
		}
	}
	return nil
}

// run measures one scenario in rounds, the floor and the server in turns.
func (o *Options) run(ctx context.Context, s scenario, connections int) (*Report, error) {
	var answers floorAnswers
	if o.Floor {
		var err error
		if answers, err = o.record(ctx); err != nil {
			return nil, err
		}
	}
	rounds := make([]round, o.Rounds)
	for i := range rounds {
		o.say("%s, %d connections, round %d of %d", s.Name, connections, i+1, o.Rounds)
		var err error
		if o.Floor {
			if rounds[i].floor, err = o.measureFloor(ctx, s, connections, answers); err != nil {
				return nil, fmt.Errorf("floor: %w", err)
			}
		}
		if rounds[i].ours, err = o.measureServer(ctx, s, connections); err != nil {
			return nil, err
		}
	}
	report := &Report{Scenario: s.Name, Connections: connections, Seconds: o.Duration.Seconds(), Figures: figures(rounds)}
	if s.onePass {
		report.Connections = 0
	}
	return report, nil
}

// measurement is one round of one scenario against one side.
type measurement struct {
	*Options
	*server
	connections int
	id          string // makes the names of its topics unlike any other's
}

func (o *Options) measurement(s *server, connections int) *measurement {
	return &measurement{o, s, connections, strings.ToLower(rand.Text()[:8])}
}

// topic is a name that is free.
func (m *measurement) topic(i int) string { return fmt.Sprintf("bench-%s-%d", m.id, i) }

func (o *Options) measureServer(ctx context.Context, s scenario, connections int) (readings, error) {
	server, err := o.server(ctx, s.flags...)
	if err != nil {
		return nil, err
	}
	defer server.stop()
	return s.measure(ctx, o.measurement(server, connections))
}

func (o *Options) measureFloor(ctx context.Context, s scenario, connections int, answers floorAnswers) (readings, error) {
	server, err := o.floorServer(ctx, answers)
	if err != nil {
		return nil, err
	}
	defer server.stop()
	return s.measure(ctx, o.measurement(server, connections))
}
