package supervise

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// Interrupted says that a signal ended the wait for the lease, or came before the command was started.
type Interrupted struct{ Signal syscall.Signal }

// Error names the signal.
func (e *Interrupted) Error() string { return fmt.Sprintf("ended by signal: %v", e.Signal) }

// Code is 128+n, as with every shell.
func (e *Interrupted) Code() int { return 128 + int(e.Signal) }

// Signals are this process's signal handlers. They stand from [CatchSignals] on, before anything is acquired.
// Until Run takes them over, the first signal that means an end ends [Signals.Context]; what comes after it, and
// in Run, stays in the channel for Run's loop.
type Signals struct {
	ch     chan os.Signal
	ctx    context.Context
	cancel context.CancelCauseFunc
	quit   chan struct{}
	done   chan struct{}
	once   sync.Once
	kept   bool // by Run, until this process ends
}

// CatchSignals puts the handlers in place. A signal that was ignored when this process started stays ignored,
// here and in the command, as nohup and shells want it.
func CatchSignals(parent context.Context) *Signals {
	s := &Signals{ch: make(chan os.Signal, 64), quit: make(chan struct{}), done: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancelCause(parent)
	s.catch(queueSignals)
	go s.watch()
	return s
}

// Context ends with the first signal that means an end; [context.Cause] is then an [*Interrupted]. It is the
// context to queue with: whoever queues leaves the queue when it ends, and has 80 ms at most for that.
func (s *Signals) Context() context.Context { return s.ctx }

// Interrupted gives the signal that ended the context, or nil.
func (s *Signals) Interrupted() *Interrupted {
	in, _ := context.Cause(s.ctx).(*Interrupted)
	return in
}

// Stop takes the handlers away, for a program that goes on without Run. Once Run has taken them over it does nothing:
// a signal that comes when all is done must not change the exit code any more.
func (s *Signals) Stop() {
	if s.kept {
		return
	}
	signal.Stop(s.ch)
	s.takeOver()
	s.cancel(nil)
}

// watch turns the first ending signal into the end of the context. It exists while nobody else reads the
// channel: until then, or until takeOver.
func (s *Signals) watch() {
	defer close(s.done)
	for {
		select {
		case sig := <-s.ch:
			if number, ok := sig.(syscall.Signal); ok && endsQueue(number) {
				s.cancel(&Interrupted{number})
				return
			}
		case <-s.quit:
			return
		}
	}
}

// keep hands the channel to the caller for good.
func (s *Signals) keep() {
	s.takeOver()
	s.kept = true
}

// takeOver ends watch, so that the caller is the only reader of the channel.
func (s *Signals) takeOver() {
	s.once.Do(func() { close(s.quit) })
	<-s.done
}

// catch adds signals to the channel, less those that this process was started to ignore.
func (s *Signals) catch(signals []os.Signal) {
	for _, sig := range signals {
		if !signal.Ignored(sig) {
			signal.Notify(s.ch, sig)
		}
	}
}

// role is what a signal means for a run.
type role int

const (
	roleNone     role = iota
	rolePass          // handed to the tree
	roleEnd           // handed to the tree, which then has the grace to end
	roleStop          // the terminal's stop key, handed to the tree
	roleContinue      // wakes the tree
)
