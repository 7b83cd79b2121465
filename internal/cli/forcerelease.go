package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"legible.sh/mutex/internal/locker"
)

func (d *door) forceRelease() *cobra.Command {
	var f locker.Force
	var yes, dry bool
	var name, reason string
	var cmd *cobra.Command
	cmd = d.verb(d.use("force-release", upper(d.Noun)), "End the leases of others, or show whose it would end", 1, 1, func(ctx context.Context, c call) error {
		if f.Fence < 0 || f.Fence == 0 && cmd.Flags().Changed("fence") { // 0 would be taken for whoever holds it
			return usagef("--fence must be the fence that status shows")
		}
		if dry && yes {
			return usagef("--dry-run only looks and --yes does it: leave out --yes to look, or --dry-run to do it")
		}
		f.DryRun, f.By = !yes, d.who(name, reason)
		r, err := c.service.ForceRelease(ctx, c.keys[0], f)
		if err != nil {
			return err
		}
		if d.wantsJSON() {
			return d.printJSON(d.Shapes.Forced(r))
		}
		return d.describeForced(r, f, time.Now())
	})
	flags := cmd.Flags()
	flags.BoolVar(&yes, "yes", false, "do it; else only say what would be done")
	flags.BoolVar(&dry, "dry-run", false, "only say what would be done, as without --yes")
	flags.Int64Var(&f.Fence, "fence", 0, "only the holder with this fence, so that a new holder is never hit by mistake")
	flags.StringVar(&name, d.Name.Flag, "", "who you are, for the history ["+d.Name.Env+"]")
	flags.StringVar(&reason, "reason", "", "why, for the history")
	d.jsonFlag(cmd)
	d.document(cmd, forceReleaseManual)
	return cmd
}

func (d *door) describeForced(r locker.Forced, f locker.Force, now time.Time) error {
	var b strings.Builder
	would := ""
	if r.DryRun {
		would = "would be "
	}
	for _, h := range r.Released {
		fmt.Fprintf(&b, "%s, held by %s%s for %s, fence %d, %sreleased\n", clean(r.Key), clean(h.Name), place(h.Who), ago(now, h.Since), h.Fence, would)
	}
	switch {
	case r.Mended:
		fmt.Fprintf(&b, "%s, whose state is broken, %scleared\n", clean(r.Key), would)
	case len(r.Released) == 0 && f.Fence != 0:
		fmt.Fprintf(&b, "%s: nobody holds it with fence %d; nothing to do\n", clean(r.Key), f.Fence)
	case len(r.Released) == 0:
		fmt.Fprintf(&b, "%s: nobody holds it; nothing to do\n", clean(r.Key))
	}
	if r.DryRun && len(r.Released) > 0 || r.DryRun && r.Mended {
		b.WriteString(d.howToForce(r))
	}
	_, err := io.WriteString(d.Out, b.String())
	return err
}

func (d *door) howToForce(r locker.Forced) string {
	fence := ""
	if len(r.Released) == 1 {
		fence = fmt.Sprintf(" --fence %d", r.Released[0].Fence)
	}
	return fmt.Sprintf("Nothing was changed. The holder is not stopped by this: look first for what may still run. To do it:\n  %s %s\n",
		d.Program, "force-release --yes"+fence+" "+clean(r.Key))
}
