package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"legible.sh/mutex/internal/locker"
)

func (d *door) renew() *cobra.Command {
	var flags *leaseFlags
	var ttl Duration
	var cmd *cobra.Command
	cmd = d.verb(d.useWithLease("renew"), "Keep a lease alive", 1, d.argsWithLease(), func(ctx context.Context, c call) error {
		if ttl == 0 && cmd.Flags().Changed("ttl") { // 0 would be taken for the flag that is not there
			return usagef("--ttl must be more than 0")
		}
		lease, err := flags.find(ctx, c.keys)
		if err != nil {
			return err
		}
		r, err := persist(ctx, func() (locker.Renewal, error) { return c.service.Renew(ctx, c.keys[0], lease, ttl.D()) })
		if err != nil {
			return flags.explain(cmd, err)
		}
		if d.wantsJSON() {
			return d.printJSON(d.Shapes.Renewal(r))
		}
		_, err = fmt.Fprintf(d.Out, "%s renewed for %s, fence %d\n", clean(r.Key), brief(r.TTL), r.Fence)
		return err
	})
	flags = d.leaseFlags(cmd)
	d.document(cmd, d.renewManual())
	cmd.Flags().Var(&ttl, "ttl", "how long the lease lives from now (default: as long as it was last given)")
	d.jsonFlag(cmd)
	return cmd
}

// persistence is how long a renewal is repeated that gets no clear answer.
const persistence = 5 * time.Second

// persist repeats a call while the service does not answer.
func persist[T any](ctx context.Context, try func() (T, error)) (T, error) {
	end := time.Now().Add(persistence)
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		v, err := try()
		if !errors.Is(err, locker.ErrUnreachable) || time.Now().Add(pause).After(end) {
			return v, err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return v, context.Cause(ctx)
		}
	}
}
