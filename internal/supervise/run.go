package supervise

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	mathrand "math/rand/v2"
	"syscall"
	"time"
)

// Run starts the command, keeps the lease while it runs, and gives the lease back when the command and, where
// they must end, its processes are gone. What a person must know of it is said on [Config.Stderr]; the outcome says
// the same to the program.
//
// The end of ctx is taken like a TERM. While Run runs, no other part of this process may start or wait for
// children: signal handlers, the subreaper attribute and the terminal are in its service. The handlers stay when it
// returns, so that a signal that comes then does not change the exit code any more.
func Run(ctx context.Context, c Config) Outcome {
	r := newRun(ctx, c.withDefaults())
	defer r.words.close()
	r.signals.keep()
	if in := r.signals.Interrupted(); in != nil {
		r.neverStarted(in)
		return r.outcome
	}
	r.keep()
	if r.confirm() && r.start() {
		r.loop()
		r.finish()
	}
	return r.outcome
}

// run is one Run. All of it belongs to Run's goroutine; what others find out comes by channel.
type run struct {
	ctx     context.Context
	config  Config
	signals *Signals
	words   *words
	keeper  *keeper
	tree    *tree
	term    *terminal
	outcome Outcome

	// What the keeper last said that it counts on.
	reports <-chan report // nil once nothing more will come
	fence   int64
	terms   terms
	shaky   bool // the last renewal was not confirmed, or none has been yet

	// The command.
	started   Instant
	exited    bool      // it has ended and was reaped
	rest      []Process // of its tree, looked up anew on every turn once it has exited
	abandoned bool      // something of the tree cannot be killed, and is not waited for any longer
	ending    *ending   // the tree's end under way
	hook      *hook     // the loss hook under way
	guardAt   Instant   // when to start the guard; 0 once that was done
	guards    int       // how often that was

	// What the keys and other signals did.
	cancelled   <-chan struct{}         // nil once it was heard
	passed      map[syscall.Signal]bool // handed to the tree
	interrupts  int                     // presses of Ctrl-C, those within a moment counted once
	lastInt     Instant
	keyed       syscall.Signal // typed at the command's own terminal, and the end of it
	suspended   bool           // this process stopped itself along with the command
	suspendedAt Instant
	wakeLater   bool // it was woken at a time when the lease may be lost
}

func newRun(ctx context.Context, c Config) *run {
	return &run{
		ctx: context.WithoutCancel(ctx), cancelled: ctx.Done(), config: c, signals: c.Signals,
		words: newWords(c.Name, c.Stderr, c.Quiet), fence: c.Held.Fence,
		terms: terms{deadline: c.Held.Sent.Add(c.Held.TTL)}, passed: map[syscall.Signal]bool{},
	}
}

// keep starts the renewals. A grant that came out of a queue is confirmed before anything rests on it.
func (r *run) keep() {
	p := newPlan(r.config.Held, mathrand.Float64)
	if at := now(); p.stale(at) {
		p.confirmFirst(at)
		r.shaky = true
	}
	r.terms = p.terms()
	r.keeper = keep(r.ctx, r.config.Lease, p, now)
	r.reports = r.keeper.reports
}

// confirm waits until the lease is known to have time left, and reports whether the command may start.
func (r *run) confirm() bool {
	for r.shaky {
		select {
		case rep := <-r.reports:
			if r.hear(rep); r.outcome.Lost {
				r.keeper.stop(time.Second)
				return false
			}
		case sig := <-r.signals.ch:
			if number, ok := sig.(syscall.Signal); ok && endsQueue(number) {
				r.neverStarted(&Interrupted{number})
				return false
			}
		case <-r.cancelled:
			r.neverStarted(&Interrupted{syscall.SIGTERM})
			return false
		}
	}
	return true
}

// giveUp is how long it is tried to give a lease back that came together with a signal: whoever pressed the key
// has the shell again within a tenth of a second.
const giveUp = 80 * time.Millisecond

// neverStarted ends a run whose command never was.
func (r *run) neverStarted(in *Interrupted) {
	r.outcome.Cause, r.outcome.Code = CauseSignal, in.Code()
	ctx, cancel := context.WithTimeout(r.ctx, giveUp)
	defer cancel()
	if r.keeper != nil {
		r.keeper.stop(giveUp / 2)
	}
	r.released(release(ctx, r.config.Lease, now().Add(giveUp), giveUp, now))
}

// start starts the command, and reports whether it did. If it cannot, the lease is given back.
func (r *run) start() bool {
	r.signals.catch(runSignals)
	err := r.startCommand()
	if err == nil {
		return true
	}
	r.words.warn("%v", err)
	r.outcome.Cause, r.outcome.StartErr, r.outcome.Code = CauseStart, err, startCode(err)
	r.keeper.stop(time.Second)
	r.giveBack()
	return false
}

func (r *run) startCommand() error {
	command := r.config.Command
	if command.Path == "" {
		path, err := Look(command.Argv[0])
		if err != nil {
			return err
		}
		command.Path = path
	}
	r.term = openTerminal()
	t, err := startTree(command, newRunID(), r.config.Grace)
	if err != nil {
		r.term.close()
		return &StartError{Program: command.Argv[0], Err: err}
	}
	r.tree, r.started = t, now()
	r.guardAt = r.started.Add(guardDelay)
	r.term.started(t.leader)
	return nil
}

func newRunID() string {
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails
	return hex.EncodeToString(id[:])
}

// finish ends what was there for the command, and gives the lease back if it is still ours to give.
func (r *run) finish() {
	r.keeper.stop(time.Second)
	r.term.close()
	r.tree.close()
	switch {
	case r.abandoned:
		if !r.outcome.Lost { // else it was said that it ends
			r.released(errStillRunning)
		}
	case !r.outcome.Lost:
		r.giveBack()
	case r.shaky && r.left() > 0:
		// That it is lost has been said. If it lives on at the service, this spares others the rest of it.
		_ = releaseOnce(r.ctx, r.config.Lease, min(r.left(), time.Second))
	}
	r.term.passOn(r.keyed)
}

// left is the time until the lease ends by itself.
func (r *run) left() time.Duration { return r.terms.deadline.Sub(now()) }

func (r *run) emit(e Event) {
	e.Topic, e.Fence = r.config.Held.Topic, r.fence
	r.config.Events.Emit(e)
}
