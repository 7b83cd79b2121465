package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"legible.sh/mutex/internal/bench"
	"legible.sh/mutex/internal/cli"
)

// benchmark measures a server from outside: the one that --url names, or one that it starts.
func (t *target) benchmark() *cobra.Command {
	cmd := &cobra.Command{
		Use: "bench [SCENARIO...] [flags]", Short: "Measure a server, and hold it to its promises meanwhile",
		DisableFlagsInUseLine: true,
		Long:                  benchLong(),
		Example: `  mutex bench --self --floor                      cycles beside a bare net/http server, on a server of its own
  mutex bench handoff -c 64 --url $MUTEX_URL
  mutex bench park --self --floor --waiters 5000
  mutex bench cycles renew status -c 16,64 --self --floor --json`,
	}
	o := bench.Defaults()
	own := benchFlags(cmd.Flags(), &o)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := t.aim(&o, own.quiet, args); err != nil {
			return err
		}
		o.Duration, o.Warmup, o.Hold = own.duration.D(), own.warmup.D(), own.hold.D()
		ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGTERM, os.Interrupt)
		defer stop()
		err := bench.Run(ctx, o, cmd.OutOrStdout())
		if errors.Is(err, bench.ErrOptions) {
			return cli.UsageError(err)
		}
		return err
	}
	cmd.AddCommand(&cobra.Command{
		Use: "floor-server", Hidden: true, Args: cobra.NoArgs, Short: "Serve the floor, for bench alone",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return bench.ServeFloor(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout())
		},
	})
	return cmd
}

func benchLong() string {
	var b strings.Builder
	b.WriteString(`bench loads a server and prints throughput and latencies as the median of its rounds. The client shares the machine
with what it measures, so compare only figures of one run: with --floor every round also measures a bare net/http
server that gives answers of the same size, and the ratio is printed. A broken promise, such as two holders at once,
ends it with an error.

With --self it starts a fresh server for each measurement. Else it loads the server that --url or MUTEX_URL names: be
sure that it is yours.

The scenarios, cycles if none is given:
`)
	for _, s := range bench.Scenarios() {
		fmt.Fprintf(&b, "\n  %-10s %s", s.Name, s.About)
	}
	return b.String()
}

// benchOwn are the flags whose values bench takes in another form.
type benchOwn struct {
	duration, warmup, hold cli.Duration
	quiet                  bool
}

func benchFlags(flags *pflag.FlagSet, o *bench.Options) *benchOwn {
	own := &benchOwn{duration: cli.Duration(o.Duration), warmup: cli.Duration(o.Warmup), hold: cli.Duration(o.Hold)}
	flags.BoolVar(&o.Self, "self", false, "start a server for each measurement, on a free port of loopback")
	flags.BoolVar(&o.Floor, "floor", false, "measure a bare net/http server as well, in turns, and print the ratio")
	flags.IntSliceVarP(&o.Connections, "connections", "c", o.Connections, "how many connections, one measurement for each number")
	flags.VarP(&own.duration, "duration", "d", "how long one measurement takes")
	flags.Var(&own.warmup, "warmup", "how long it runs before that, uncounted")
	flags.IntVar(&o.Rounds, "rounds", o.Rounds, "how often each is measured")
	flags.Var(&own.hold, "hold", "handoff: how long each holder keeps the lease")
	flags.IntVar(&o.Waiters, "waiters", o.Waiters, "park: how many wait")
	flags.IntVar(&o.Topics, "topics", o.Topics, "park: over how many topics")
	flags.IntVar(&o.Watchers, "watchers", o.Watchers, "watchers: how many watch")
	flags.IntVar(&o.Rate, "rate", o.Rate, "watchers: events a second")
	flags.IntVar(&o.Live, "live", o.Live, "topics: how many are held at once")
	flags.IntVar(&o.Names, "names", o.Names, "topics: how many names are used afterwards")
	flags.StringVar(&o.Dir, "dir", "", "disk: a directory on the disk to measure (default: the one for temporary files)")
	flags.StringArrayVar(&o.ServeFlags, "serve-flag", nil, "with --self: a flag for the server, such as --data-dir=/x")
	flags.IntVar(&o.PID, "pid", 0, "without --self: the server's process, to read its CPU and memory")
	flags.StringVar(&o.Pprof, "pprof", "", "without --self: the server's profiler, host:port")
	flags.BoolVar(&o.JSON, "json", false, "print JSON, one object a line, instead of tables")
	flags.BoolVarP(&own.quiet, "quiet", "q", false, "do not say what is being measured")
	flags.SortFlags = false
	return own
}

// aim points the options at the server that the flags name, or has one started.
func (t *target) aim(o *bench.Options, quiet bool, scenarios []string) error {
	if len(scenarios) > 0 {
		o.Scenarios = scenarios
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	o.Serve, o.FloorServer = []string{self, "serve"}, []string{self, "bench", "floor-server"}
	if !quiet {
		start := time.Now()
		o.Progress = func(text string) { t.warn("%4.0fs %s", time.Since(start).Seconds(), text) }
	}
	if o.Self {
		return nil
	}
	if t.used = cmp.Or(t.url, os.Getenv("MUTEX_URL")); t.used == "" { // never the default: it is not ours to load
		return cli.UsageError(errors.New("which server? Name one with --url or MUTEX_URL, or have one started with --self"))
	}
	o.URL = t.used
	if o.Token, err = t.findToken(); err != nil {
		return err
	}
	o.AdminToken, err = t.findAdminToken()
	return err
}
