package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"legible.sh/mutex/internal/supervise"
)

// runFlags are the flags that only run has.
type runFlags struct {
	*acquireFlags
	grace     Duration
	maxHold   Duration
	onLoss    string
	onLost    string
	leftovers string
	events    string
	busyExit  int
	ifBusy    string
	export    bool // the flag that exports the lease or withholds it was given
}

func (d *door) runFlags(cmd *cobra.Command) *runFlags {
	r := &runFlags{acquireFlags: d.acquireFlags(cmd), grace: Duration(supervise.DefaultGrace)}
	flags := cmd.Flags()
	flags.Var(&r.grace, "grace", "from TERM to KILL when the command must end; also how long a release is tried")
	flags.Var(&r.maxHold, "max-hold", "end the command after this long; 0 is never")
	flags.StringVar(&r.onLoss, "on-lease-loss", "terminate", "what happens to the command when the lease is lost: terminate or continue")
	flags.StringVar(&r.onLost, "on-lost", "", "a shell `command` to run when the lease is lost")
	flags.StringVar(&r.leftovers, "leftovers", "release", "when the command ends and leaves processes behind: release, wait or kill")
	flags.StringVar(&r.events, "events", "", "append a JSON line to this `file` for everything that happens to the lease")
	flags.IntVar(&r.busyExit, "busy-exit", -1, "exit with this `code` when the lease could not be had (default: as for any such error)")
	flags.Lookup("busy-exit").DefValue = "0" // which help takes for no default
	flags.StringVar(&r.ifBusy, "if-busy", "fail", "when the lease could not be had: fail, or skip, which exits 0")
	flags.BoolVar(&r.export, d.Export.Flag, false, d.Export.Usage)
	return r
}

// exports says whether the command's environment gets the lease.
func (r *runFlags) exports() bool { return r.export != r.d.Export.Withholds }

var (
	lossPolicies     = map[string]supervise.LossPolicy{"terminate": supervise.Terminate, "continue": supervise.Continue}
	leftoverPolicies = map[string]supervise.LeftoverPolicy{"release": supervise.LeaveThem, "wait": supervise.AwaitThem, "kill": supervise.KillThem}
)

// config turns the flags into what the supervisor needs, or says which of them is wrong.
func (r *runFlags) config(cmd *cobra.Command) (c supervise.Config, err error) {
	var known bool
	if c.OnLoss, known = lossPolicies[r.onLoss]; !known {
		return c, usagef("--on-lease-loss %s: there are terminate and continue", r.onLoss)
	}
	if c.Leftovers, known = leftoverPolicies[r.leftovers]; !known {
		return c, usagef("--leftovers %s: there are release, wait and kill", r.leftovers)
	}
	switch {
	case r.ifBusy != "fail" && r.ifBusy != "skip":
		return c, usagef("--if-busy %s: there are fail and skip", r.ifBusy)
	case cmd.Flags().Changed("busy-exit") && (r.busyExit < 0 || r.busyExit > 255):
		return c, usagef("--busy-exit must be 0 to 255")
	case r.d.MinRunTTL > 0 && r.ttl.D() < r.d.MinRunTTL:
		return c, usagef("--ttl must be %s or more for run", brief(r.d.MinRunTTL))
	}
	c.Grace = max(r.grace.D(), 1) // for the supervisor 0 is the default, and who says 0 here means none
	c.MaxHold, c.Quiet = r.maxHold.D(), r.quiet
	if strings.TrimSpace(r.onLost) != "" {
		c.LossHook = []string{"/bin/sh", "-c", r.onLost}
	}
	c.Name, c.Stderr = r.d.Program, r.d.Err
	return c, nil
}
