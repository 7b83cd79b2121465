package supervise

import "syscall"

// terminal: a Windows console belongs to everything that runs in it.
type terminal struct{}

func openTerminal() *terminal             { return nil }
func (t *terminal) started(int)           {}
func (t *terminal) meantForCommand() bool { return false }
func (t *terminal) has() bool             { return false }
func (t *terminal) takeBack(bool)         {}
func (t *terminal) passOn(syscall.Signal) {}
func (t *terminal) close()                {}
func keySignal(syscall.Signal) bool       { return false }
func (r *run) stopKey(syscall.Signal)     {}
func (r *run) stopped()                   {}
func (r *run) woken()                     {}
func (r *run) resume()                    {}
