package supervise

import (
	"fmt"
	"time"
)

// Cause is why a run ended.
type Cause int

const (
	CauseExit    Cause = iota // the command ended by itself
	CauseStart                // it could not be started
	CauseSignal               // a signal that this process received, or ctx's end, ended it
	CauseLost                 // the lease was lost, and the command was ended for it
	CauseMaxHold              // it had held the lease for as long as it may
)

// Outcome is how a run ended. Which exit code a loss has is the front door's affair; Code is what the command
// itself came to.
type Outcome struct {
	Cause Cause
	Code  int  // 0 to 255: the command's own, 128+n when signal n ended it, 126 or 127 when it could not start
	Lost  bool // the lease was lost while something of the command still ran, whatever was done about it

	StartErr   error     // a [*StartError] when the cause is CauseStart
	LossErr    error     // why the lease counts as lost
	ReleaseErr error     // the lease was not given back: [ErrLost] when it had ended before
	EndsAt     time.Time // with a ReleaseErr: when the lease ends by itself, by this machine's wall clock
	Leftovers  []Process // what the command left running
	Undead     bool      // some of that could not be killed, and the lease was not given back for it
}

// LeaseFailed reports whether the command was ended because its time with the lease was over: the front doors
// have an exit code of their own for that.
func (o Outcome) LeaseFailed() bool { return o.Cause == CauseLost || o.Cause == CauseMaxHold }

// Process is one process of the command's tree.
type Process struct {
	PID  int
	Name string // the program's short name, never its arguments: those may hold secrets
}

// String is how the process is named in warnings.
func (p Process) String() string { return fmt.Sprintf("%d (%s)", p.PID, printable(p.Name)) }

// printable replaces what could disturb a terminal.
func printable(s string) string {
	clean := []rune(s)
	for i, r := range clean {
		if r < ' ' || r == 0x7f || (r >= 0x80 && r < 0xa0) {
			clean[i] = '?'
		}
	}
	return string(clean)
}
