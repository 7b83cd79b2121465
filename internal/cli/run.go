package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"legible.sh/mutex/internal/locker"
	"legible.sh/mutex/internal/supervise"
)

func (d *door) run() *cobra.Command {
	var flags *runFlags
	var cmd *cobra.Command
	cmd = d.verb(d.use("run", d.keys())+" -- COMMAND...", "Run a command under a lease", 1, d.mostKeys(), func(ctx context.Context, c call) error {
		config, err := flags.config(cmd)
		if err != nil {
			return err
		}
		r := &runner{door: d, call: c, flags: flags, config: config}
		return r.run(ctx, cmd.Context())
	})
	flags = d.runFlags(cmd)
	d.document(cmd, d.runManual())
	return cmd
}

// runner is one use of run.
type runner struct {
	*door
	call
	flags  *runFlags
	config supervise.Config
}

// run queues under queue, which a signal ends, and runs the command under ctx: from then on signals are its own.
func (r *runner) run(queue, ctx context.Context) error {
	request, err := r.flags.request()
	if err != nil {
		return err
	}
	path, err := supervise.Look(r.command[0]) // before queueing for nothing
	if err != nil {
		return r.startFailed(err)
	}
	if r.flags.events != "" {
		if r.config.Events, err = supervise.OpenEvents(r.flags.events); err != nil {
			return fmt.Errorf("--events: %w", err)
		}
		defer r.config.Events.Close()
	}
	r.notify = r.emitWaiting
	held, err := r.acquireAll(queue, r.call, request, r.flags.quiet)
	if err != nil {
		return r.notAcquired(err)
	}
	r.config.Command = supervise.Command{
		Argv: r.command, Path: path, Env: append(os.Environ(), r.Environ(held.grants(), r.flags.exports())...),
	}
	r.config.Held = held.summary()
	lease := &runLease{hold: held, service: r.service, request: request}
	r.config.Lease = lease
	r.config.Signals = r.signals
	r.config.Events.Emit(supervise.Event{
		Kind: supervise.Acquired, Topic: r.config.Held.Topic, Fence: r.config.Held.Fence, TTL: r.config.Held.TTL,
		Left: r.config.Held.Sent.Add(r.config.Held.TTL).Sub(supervise.Now()),
	})
	o := supervise.Run(ctx, r.config)
	if o.Lost && !o.Undead { // one was refused, which is said; the others are given back
		if err := r.giveBack(ctx, r.service, lease.rest()); err != nil {
			r.words("%v", err)
		}
	}
	return r.ended(o)
}

func (r *runner) emitWaiting(key string, p locker.Progress) {
	e := supervise.Event{
		Kind: supervise.Waiting, Topic: key, Position: p.Position, Holders: p.Holders, Left: p.RetryAfter,
	}
	if p.Trouble != nil {
		e.Error = p.Trouble.Error()
	}
	r.config.Events.Emit(e)
}

// notAcquired gives the error of a lease that could not be had the code that the flags say.
func (r *runner) notAcquired(err error) error {
	if !errors.Is(err, locker.ErrBusy) && !errors.Is(err, locker.ErrTimeout) {
		return err
	}
	switch {
	case r.flags.ifBusy == "skip":
		if !r.flags.quiet {
			r.words("%v; skipped", err)
		}
		return nil
	case r.flags.busyExit >= 0:
		return &exit{r.flags.busyExit, err}
	}
	return err
}

// ended gives the exit code that the outcome has here. What there was to say has been said.
func (r *runner) ended(o supervise.Outcome) error {
	code := o.Code
	switch {
	case o.LeaseFailed():
		code = r.Codes.Lost
	case o.StartErr != nil:
		code = r.startCode(code)
	}
	if code == codeOK {
		return nil
	}
	return &exit{code: code}
}

// startFailed gives the error of a command that cannot be started its code.
func (r *runner) startFailed(err error) error {
	var start *supervise.StartError
	if errors.As(err, &start) {
		return &exit{r.startCode(start.Code()), err}
	}
	return err
}

// notExecutable is the supervisor's code for a program that is there and cannot be executed.
const notExecutable = 126

func (r *runner) startCode(code int) int {
	if code == notExecutable && r.Codes.NotExecutable != 0 {
		return r.Codes.NotExecutable
	}
	return code
}

// summary shows several leases as one: the first's fence, the shortest ttl, the oldest confirmation.
func (h hold) summary() supervise.Held {
	s := supervise.Held{Fence: h[0].grant.Fence, TTL: h[0].grant.TTL, Sent: h[0].sent}
	keys := make([]string, len(h))
	for i, one := range h {
		keys[i] = one.key
		s.TTL, s.Sent = min(s.TTL, one.grant.TTL), min(s.Sent, one.sent)
	}
	s.Topic = strings.Join(keys, ",")
	return s
}
