package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"legible.sh/mutex/internal/locker"
)

var errWaitTimeout = errors.New("the wait timed out")

func (d *door) wait() *cobra.Command {
	var timeout Duration
	cmd := d.verb(d.use("wait", upper(d.Noun)), "Wait until a "+d.Noun+" is free or a lease on it ends", 1, 1, func(ctx context.Context, c call) error {
		if timeout > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeoutCause(ctx, timeout.D(), errWaitTimeout)
			defer cancel()
		}
		s, err := c.service.Wait(ctx, c.keys[0])
		if err != nil && errors.Is(context.Cause(ctx), errWaitTimeout) && !errors.Is(err, locker.ErrUnreachable) {
			return &exit{codeWaitTimeout, fmt.Errorf("%s: no lease has ended within %s", c.keys[0], brief(timeout.D()))}
		}
		if err != nil {
			return err
		}
		if d.wantsJSON() {
			return d.printJSON(d.Shapes.Status(s))
		}
		return d.describe(s, time.Now())
	})
	cmd.Flags().Var(&timeout, "timeout", "give up after this, with exit code 11; 0 is never")
	d.jsonFlag(cmd)
	d.document(cmd, waitManual)
	return cmd
}
