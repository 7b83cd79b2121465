package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"legible.sh/mutex/internal/locker"
)

func (d *door) release() *cobra.Command {
	var flags *leaseFlags
	var cmd *cobra.Command
	cmd = d.verb(d.useWithLease("release"), "Give a lease back", 1, d.argsWithLease(), func(ctx context.Context, c call) error {
		lease, err := flags.find(ctx, c.keys)
		if err != nil {
			return err
		}
		r, err := c.service.Release(ctx, c.keys[0], lease)
		switch {
		case errors.Is(err, locker.ErrGone):
			return d.endedBefore(err)
		case err != nil:
			return flags.explain(cmd, err)
		}
		if d.wantsJSON() {
			return d.printJSON(d.Shapes.Released(r))
		}
		_, err = fmt.Fprintf(d.Out, "%s released\n", clean(r.Key))
		return err
	})
	flags = d.leaseFlags(cmd)
	d.document(cmd, d.releaseManual())
	d.jsonFlag(cmd)
	return cmd
}

// endedBefore is the error of a release that found the lease over. The work is done by now, so nothing has to stop, but it may
// have gone on for longer than the lease did.
func (d *door) endedBefore(err error) error {
	return &exit{d.Codes.code(err), fmt.Errorf("%s: it had ended before it was released. What was done under it after its end may have "+
		"collided with what the next holder did", phrase(err))}
}
