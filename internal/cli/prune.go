package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
)

func (d *door) prune() *cobra.Command {
	cmd := d.verb(d.use("prune", ""), "Forget every "+d.Noun+" that nobody holds, awaits or watches", 0, 0, func(ctx context.Context, c call) error {
		p, err := c.service.Prune(ctx)
		if err != nil {
			return err
		}
		if d.wantsJSON() {
			return d.printJSON(d.Shapes.Pruned(p))
		}
		_, err = fmt.Fprintf(d.Out, "%d forgotten, %d left\n", p.Pruned, p.Remaining)
		return err
	})
	d.jsonFlag(cmd)
	d.document(cmd, pruneManual)
	return cmd
}
