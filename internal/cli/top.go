package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"legible.sh/mutex/internal/locker"
)

// topQueues is how many of the longest queues top looks into: each is a call of its own.
const topQueues = 10

func (d *door) top() *cobra.Command {
	every := Duration(2 * time.Second)
	var prefix string
	cmd := d.verb(d.use("top", ""), "Watch contended "+d.Noun+"s, long holds and long waits, live", 0, 0, func(ctx context.Context, c call) error {
		if every.D() < 100*time.Millisecond {
			return usagef("--every must be 0.1 or more")
		}
		look := func() (snapshot, error) { return lookAll(ctx, c, prefix) }
		if !d.OutTTY {
			s, err := look()
			if err != nil {
				return err
			}
			_, err = io.WriteString(d.Out, strings.Join(s.frame(100, 0, time.Now()), "\n")+"\n")
			return err
		}
		return d.live(ctx, every.D(), look)
	})
	cmd.Flags().Var(&every, "every", "time between two looks")
	cmd.Flags().StringVar(&prefix, "prefix", "", "only names that begin with this")
	d.document(cmd, topManual)
	return cmd
}

// snapshot is one look at everything.
type snapshot struct {
	where string
	all   []locker.Status // the contended ones with their waiters
	err   error           // of the last look; the figures are then those of the one before
}

func lookAll(ctx context.Context, c call, prefix string) (snapshot, error) {
	all, err := c.service.List(ctx, locker.ListQuery{Prefix: prefix})
	if err != nil {
		return snapshot{}, err
	}
	slices.SortStableFunc(all, func(a, b locker.Status) int { return cmp.Compare(b.Waiting, a.Waiting) })
	for i := range min(topQueues, len(all)) {
		if all[i].Waiting == 0 || len(all[i].Waiters) > 0 {
			continue
		}
		if s, err := c.service.Status(ctx, all[i].Key); err == nil { // else it is shown without its queue
			all[i] = s
		}
	}
	return snapshot{where: c.where, all: all}, nil
}

// The sequences that take a terminal over and give it back as it was.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l"
	leaveScreen = "\x1b[?25h\x1b[?1049l"
	drawScreen  = "\x1b[H"
	clearLine   = "\x1b[K\r\n"
	clearRest   = "\x1b[J"
)

// live draws a snapshot time and again, until a key or a signal ends it.
func (d *door) live(ctx context.Context, every time.Duration, look func() (snapshot, error)) error {
	s, err := look()
	if err != nil {
		return err // said on the screen as it was
	}
	keys, restore := d.keyboard()
	defer restore()
	if _, err := io.WriteString(d.Out, enterScreen); err != nil {
		return err
	}
	defer io.WriteString(d.Out, leaveScreen)
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		width, height := d.size()
		lines := s.frame(width, height, time.Now())
		if _, err := io.WriteString(d.Out, drawScreen+strings.Join(lines, clearLine)+clearRest); err != nil {
			return err
		}
		select {
		case <-tick.C:
			next, err := look()
			if next.where == "" {
				next = s
			}
			s, s.err = next, err
		case <-keys:
			return nil
		case <-ctx.Done():
			return endOfTop(context.Cause(ctx))
		}
	}
}

// endOfTop makes Ctrl-C the usual way out.
func endOfTop(cause error) error {
	if errors.Is(cause, context.Canceled) {
		return nil
	}
	return cause
}

// keyboard reports the keys that quit. Its goroutine reads the terminal, which nothing can interrupt, so it ends with
// the process.
func (d *door) keyboard() (quit <-chan struct{}, restore func()) {
	keys := make(chan struct{})
	if d.Raw == nil {
		return keys, func() {}
	}
	restore, err := d.Raw()
	if err != nil {
		return keys, func() {}
	}
	go func() {
		one := make([]byte, 1)
		for {
			if n, err := d.In.Read(one); err != nil || n == 1 && strings.ContainsAny(string(one), "qQ\x03\x1b") {
				close(keys)
				return
			}
		}
	}()
	return keys, restore
}

func (d *door) size() (width, height int) {
	if d.Size == nil {
		return 100, 0
	}
	width, height = d.Size()
	return max(width, 40), height
}
