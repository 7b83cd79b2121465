package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"legible.sh/mutex/internal/locker"
)

// check's own exit codes: it is asked a question, and "do not know" is not "no".
const (
	codeGone    = 1
	codeUnknown = 3
)

func (d *door) check() *cobra.Command {
	var flags *leaseFlags
	var cmd *cobra.Command
	cmd = d.verb(d.useWithLease("check"), "Ask whether a lease still lives", 1, d.argsWithLease(), func(ctx context.Context, c call) error {
		lease, err := flags.find(ctx, c.keys)
		if err != nil {
			return err
		}
		r, err := c.service.Check(ctx, c.keys[0], lease)
		switch {
		case errors.Is(err, locker.ErrGone):
			return &exit{codeGone, err}
		case err != nil && d.Codes.code(err) == codeError:
			return &exit{codeUnknown, err}
		case err != nil:
			return flags.explain(cmd, err)
		case d.wantsJSON():
			return d.printJSON(d.Shapes.Check(r))
		}
		_, err = fmt.Fprintf(d.Out, "%s lives, fence %d, expires %s\n", clean(r.Key), r.Fence, in(time.Now(), r.Expires))
		return err
	})
	flags = d.leaseFlags(cmd)
	d.document(cmd, d.checkManual())
	d.jsonFlag(cmd)
	return cmd
}
