package cli

import (
	"time"

	"github.com/spf13/cobra"

	"legible.sh/mutex/internal/locker"
)

// acquireFlags are the flags of acquire and run that say what to ask for.
type acquireFlags struct {
	d            *door
	ttl          Duration
	wait         func() time.Duration
	capacity     int
	given        func(flag string) bool
	name, reason string
	quiet        bool
}

func (d *door) acquireFlags(cmd *cobra.Command) *acquireFlags {
	flags := cmd.Flags()
	a := &acquireFlags{d: d, ttl: Duration(d.TTL), given: flags.Changed}
	flags.Var(&a.ttl, "ttl", "how long the lease lives unless it is renewed")
	a.wait = d.Patience(flags)
	if d.Semaphores {
		flags.IntVar(&a.capacity, "capacity", 0, "how many may hold the "+d.Noun+" at once; the first to name a number fixes it (default: as it is, else 1)")
	}
	flags.StringVar(&a.name, d.Name.Flag, "", "who you are, shown to whoever looks ["+d.Name.Env+"]")
	flags.StringVar(&a.reason, "reason", "", "what you are doing, shown to whoever looks")
	flags.BoolVarP(&a.quiet, "quiet", "q", false, "say nothing while waiting")
	return a
}

// request is what the flags ask for.
func (a *acquireFlags) request() (locker.Request, error) {
	switch {
	case a.ttl <= 0:
		return locker.Request{}, usagef("--ttl must be more than 0")
	case a.capacity < 0, a.capacity == 0 && a.given("capacity"): // 0 would be taken for the flag that is not there
		return locker.Request{}, usagef("--capacity must be 1 or more")
	}
	return locker.Request{
		Who: a.d.who(a.name, a.reason), TTL: a.ttl.D(), Wait: a.wait(), Capacity: a.capacity,
	}, nil
}
