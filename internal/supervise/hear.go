package supervise

import (
	"errors"
)

// hear takes in what the keeper has to say of the lease.
func (r *run) hear(rep report) {
	r.terms = rep.terms
	switch rep.kind {
	case reportRenewed:
		r.renewed(rep.renewal)
	case reportUncertain:
		r.uncertain(rep.err)
	case reportRefused, reportOverdue:
		r.lose(rep)
	}
}

func (r *run) renewed(renewal Renewal) {
	kind := Renewed
	if renewal.Fence != 0 {
		r.fence = renewal.Fence
	}
	switch {
	case renewal.Reclaimed:
		kind = Reclaimed
		r.words.warn("the lease had been cleared and was taken back: the fence is %d now, "+
			"the command still has the one before", r.fence)
	case r.shaky && r.tree != nil:
		r.words.note("renewed again")
	}
	r.shaky = false
	r.emit(Event{Kind: kind, Left: r.left()})
	if r.tree != nil {
		r.tree.killBy(r.terms.killBy)
	}
	if r.wakeLater {
		r.resume()
	}
}

func (r *run) uncertain(err error) {
	if !r.shaky {
		r.words.note("the lease could not be renewed (%v); trying again for %s", err, seconds(r.terms.stopAt.Sub(now())))
	}
	r.shaky = true
	r.emit(Event{Kind: Uncertain, Left: r.left(), Error: err.Error()})
}

// errOverdue is the loss of a lease of which nothing was heard, when not even an attempt failed.
var errOverdue = errors.New("not confirmed in time")

// lose starts what must happen when the lease is lost: the tree ends, at the latest when somebody else may hold the
// lease, unless the caller wants it to go on.
func (r *run) lose(rep report) {
	r.reports = nil
	r.shaky = rep.kind == reportOverdue
	r.outcome.Lost, r.outcome.LossErr = true, errors.Join(ErrLost, rep.err)
	if rep.kind == reportRefused {
		r.outcome.LossErr = rep.err
	}
	r.emit(Event{Kind: Lost, Left: r.left(), Error: lossReason(rep).Error()})
	if r.config.OnLoss == Terminate || r.tree == nil {
		r.outcome.Cause = CauseLost
	}
	r.words.warn("lease lost: %v%s", lossReason(rep), r.consequence())
	if r.tree == nil {
		return
	}
	r.startHook()
	if r.config.OnLoss == Terminate {
		r.end(termSignal, min(now().Add(r.config.Grace), r.terms.killBy))
	}
}

func lossReason(rep report) error {
	if rep.err != nil {
		return rep.err
	}
	return errOverdue
}

func (r *run) consequence() string {
	switch {
	case r.tree == nil:
		return "; the command is not started"
	case r.config.OnLoss == Continue:
		return "; the command goes on without it"
	}
	return "; ending the command"
}

// hook is the loss hook under way.
type hook struct {
	pid    int
	killAt Instant
}

// startHook runs the loss hook beside the tree's end, and gives it the grace.
func (r *run) startHook() {
	argv := r.config.LossHook
	if len(argv) == 0 {
		return
	}
	path, err := Look(argv[0])
	if err == nil {
		var pid int
		pid, err = r.tree.spawnHook(Command{Argv: argv, Path: path, Env: unique(r.config.Command.Env)})
		r.hook = &hook{pid: pid, killAt: now().Add(r.config.Grace)}
	}
	if err != nil {
		r.hook = nil
		r.words.warn("the command for a lost lease did not start: %v", err)
	}
}

// endByMaxHold ends a command that has held the lease for as long as it may. The renewals end with it, so that the
// lease is over a ttl later whatever happens.
func (r *run) endByMaxHold(at Instant) {
	r.keeper.cancel()
	r.reports = nil
	r.outcome.Cause = CauseMaxHold
	r.words.warn("the lease was held for %s, the longest allowed; ending the command", r.config.MaxHold)
	killAt := at.Add(r.config.Grace)
	if !r.outcome.Lost { // else the command goes on without a lease, and no deadline is left to keep
		killAt = min(killAt, r.terms.killBy)
	}
	r.end(termSignal, killAt)
}
