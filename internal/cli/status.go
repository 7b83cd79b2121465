package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"legible.sh/mutex/internal/locker"
)

// stateCodes are what status --exit-code gives.
var stateCodes = map[locker.State]int{
	locker.Held: 0, locker.Free: 3, locker.Expired: 4, locker.Corrupt: 5, locker.Unreadable: 5,
}

func (d *door) status() *cobra.Command {
	var byCode bool
	cmd := d.verb(d.use("status", upper(d.Noun)), "Show who holds a "+d.Noun+" and who waits", 1, 1, func(ctx context.Context, c call) error {
		s, err := c.service.Status(ctx, c.keys[0])
		if err != nil {
			return unreadable(byCode, err)
		}
		if d.wantsJSON() {
			err = d.printJSON(d.Shapes.Status(s))
		} else {
			err = d.describe(s, time.Now())
		}
		code, known := stateCodes[s.State]
		if !known { // no zero value: that is held
			code = stateCodes[locker.Unreadable]
		}
		if err == nil && byCode && code != codeOK {
			return &exit{code: code}
		}
		return err
	})
	cmd.Flags().BoolVar(&byCode, "exit-code", false, "exit 0 if held, 3 free, 4 expired, 5 corrupt or unreadable")
	d.jsonFlag(cmd)
	d.document(cmd, statusManual)
	return cmd
}

// unreadable gives an error the code of a state that cannot be read, unless the question was wrong.
func unreadable(byCode bool, err error) error {
	if !byCode || errors.Is(err, locker.ErrUsage) || errors.Is(err, context.Canceled) {
		return err
	}
	return &exit{stateCodes[locker.Unreadable], err}
}

// describe shows a status to a person.
func (d *door) describe(s locker.Status, now time.Time) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s", clean(s.Key), clean(string(s.State)))
	if s.Capacity > 1 {
		fmt.Fprintf(&b, ", %d of %d permits", len(s.Holders), s.Capacity)
	}
	b.WriteString("\n")
	if s.Error != "" {
		fmt.Fprintf(&b, "  error     %s\n  mend      %s force-release %s shows what would be done, --yes does it\n", clean(s.Error), d.Program, clean(s.Key))
	}
	for _, h := range s.Holders {
		describeHolder(&b, h, now)
	}
	if s.State == locker.Expired {
		fmt.Fprintf(&b, "  next      whoever acquires it takes over; look first for what may still run\n")
	}
	if s.Waiting > 0 {
		fmt.Fprintf(&b, "\n%d waiting\n", s.Waiting)
	}
	for _, w := range s.Waiters {
		describeWaiter(&b, w, now)
	}
	_, err := io.WriteString(d.Out, b.String())
	return err
}

func describeHolder(b *strings.Builder, h locker.Holder, now time.Time) {
	fmt.Fprintf(b, "\n  holder    %s%s\n", clean(h.Name), place(h.Who))
	if h.Reason != "" {
		fmt.Fprintf(b, "  reason    %s\n", clean(h.Reason))
	}
	renewed := "never renewed"
	if !h.Renewed.IsZero() {
		renewed = "renewed " + ago(now, h.Renewed) + " ago"
	}
	fmt.Fprintf(b, "  held for  %s, %s\n", ago(now, h.Since), renewed)
	fmt.Fprintf(b, "  expires   %s\n", in(now, h.Expires))
	fmt.Fprintf(b, "  fence     %d\n", h.Fence)
}

func describeWaiter(b *strings.Builder, w locker.Waiter, now time.Time) {
	fmt.Fprintf(b, "  %d  %s%s, for %s", w.Position, clean(w.Name), place(w.Who), ago(now, w.Since))
	if w.Away {
		b.WriteString(", away")
	}
	if w.Reason != "" {
		fmt.Fprintf(b, ": %s", clean(w.Reason))
	}
	b.WriteString("\n")
}

// place says on which machine and under which number somebody runs.
func place(w locker.Who) string {
	switch {
	case w.PID != 0 && w.Host != "":
		return fmt.Sprintf(" (pid %d on %s)", w.PID, clean(w.Host))
	case w.PID != 0:
		return fmt.Sprintf(" (pid %d)", w.PID)
	case w.Host != "":
		return fmt.Sprintf(" (on %s)", clean(w.Host))
	}
	return ""
}
