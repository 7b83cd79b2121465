package bench_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"legible.sh/mutex/internal/bench"
)

func TestOptionsThatCannotBeUsed(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*bench.Options)
		says   string
	}{
		"no scenario":      {func(o *bench.Options) { o.Scenarios = nil }, "which scenario? One or more of cycles, renew"},
		"unknown scenario": {func(o *bench.Options) { o.Scenarios = []string{"cycle"} }, `no scenario "cycle"; there are cycles`},
		"no server":        {func(o *bench.Options) { o.URL = "" }, "which server?"},
		"two servers":      {func(o *bench.Options) { o.Self = true }, "choose one"},
		"no command":       {func(o *bench.Options) { o.URL, o.Self = "", true }, "needs the command that serves"},
		"no URL":           {func(o *bench.Options) { o.URL = "localhost:4185" }, "give http://host:port"},
		"no host":          {func(o *bench.Options) { o.URL = "http://" }, "give http://host:port"},
		"no pid":           {func(o *bench.Options) { o.Scenarios = []string{"park"}; o.PID = 0 }, "park reads the server's memory: give its pid"},
		"floor elsewhere":  {func(o *bench.Options) { o.URL = "http://example.com"; o.Floor = true; o.FloorServer = []string{"x"} }, "http://example.com is not"},
		"no floor":         {func(o *bench.Options) { o.Scenarios = []string{"handoff"}; o.Floor = true }, "handoff has no floor"},
		"floor's command":  {func(o *bench.Options) { o.Floor = true }, "the floor needs the command"},
		"connections":      {func(o *bench.Options) { o.Connections = []int{1, 0} }, "connections are 1 to 10000"},
		"duration":         {func(o *bench.Options) { o.Duration = time.Hour }, "at most 4m"},
		"rounds":           {func(o *bench.Options) { o.Rounds = 0 }, "rounds are 1 or more"},
		"waiters":          {func(o *bench.Options) { o.Topics = 21 }, "no more topics than waiters"},
	} {
		o := quick("http://127.0.0.1:1", "cycles")
		c.change(&o)
		var out bytes.Buffer
		err := bench.Run(t.Context(), o, &out)
		if !errors.Is(err, bench.ErrOptions) || !strings.Contains(err.Error(), c.says) || out.Len() > 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAllThatIsWrongIsSaidAtOnce(t *testing.T) {
	o := quick("nowhere", "nothing")
	o.Rounds = 0
	err := bench.Run(t.Context(), o, &bytes.Buffer{})
	for _, says := range []string{"nowhere", "nothing", "rounds"} {
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q is not in: %v", says, err)
		}
	}
}

func TestNoServer(t *testing.T) {
	err := bench.Run(t.Context(), quick("http://127.0.0.1:1", "cycles"), &bytes.Buffer{})
	if err == nil || !strings.Contains(err.Error(), "no server answers") {
		t.Error(err)
	}
}
