package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"legible.sh/mutex/internal/locker"
)

func (d *door) acquire() *cobra.Command {
	var flags *acquireFlags
	cmd := d.verb(d.use("acquire", d.keys()), "Take a lease, or wait in line for one", 1, d.mostKeys(), func(ctx context.Context, c call) error {
		r, err := flags.request()
		if err != nil {
			return err
		}
		r.PID = os.Getppid() // this process is gone long before the lease is: whoever started it is the holder
		held, err := d.acquireAll(ctx, c, r, flags.quiet)
		if err != nil {
			return err
		}
		if err := d.printGrants(held.grants()); err != nil {
			return errors.Join(err, d.giveBack(ctx, c.service, held)) // nobody has read who holds it now
		}
		return nil
	})
	flags = d.acquireFlags(cmd)
	d.document(cmd, d.acquireManual())
	d.jsonFlag(cmd)
	return cmd
}

// catchBrokenPipe has a write to a reader that is gone fail, where it would end this process.
func catchBrokenPipe() (stop func()) {
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	return func() { signal.Stop(broken) }
}

// printGrants prints each grant in the order in which the keys were given: as JSON, one document after another.
func (d *door) printGrants(grants []locker.Grant) error {
	defer catchBrokenPipe()()
	if d.wantsJSON() {
		for _, g := range grants {
			if err := d.printJSON(d.Shapes.Grant(g)); err != nil {
				return err
			}
		}
		return nil
	}
	if d.PrintGrants != nil {
		return d.PrintGrants(d.Streams, grants)
	}
	return d.grantTable(grants)
}

func (d *door) grantTable(grants []locker.Grant) error {
	var rows [][]string
	for _, g := range grants {
		rows = append(rows, []string{clean(g.Key), g.Token.Reveal(), integer(g.Fence), integer(g.Slot), "in " + brief(g.TTL), clean(g.Name)})
	}
	return table(d.Out, 0, []string{upper(d.Noun), "LEASE", "FENCE", "SLOT", "EXPIRES", "NAME"}, rows)
}
