package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
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
		if err != nil {
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
