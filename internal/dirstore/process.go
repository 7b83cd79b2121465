package dirstore

import "sync"

// process names one process of this machine for ever: a pid alone is used again, and is another's in another
// PID namespace. Two containers that share a directory and a hostname are told apart by Space.
type process struct {
	Boot  string `json:"boot_id"`
	Space string `json:"pid_ns"`
	PID   int    `json:"pid"`
	Start string `json:"start"` // when it started, as the system counts; "" if that is not known
}

// life is what is known about a process.
type life int

const (
	unknown life = iota // it runs where this process cannot look
	dead
	alive
	halted // alive, and stopped by somebody
)

// life tells whether the process lives.
func (p process) life() life {
	me := self()
	if p.PID <= 0 || p.Boot == "" || p.Boot != me.Boot || p.Space != me.Space {
		return unknown
	}
	start, state := probe(p.PID)
	if state != dead && start != "" && p.Start != "" && start != p.Start {
		return dead // the number is another's now
	}
	return state
}

// self is this process. Where nothing can name it for sure, its Boot is "", and its heartbeat has to do.
var self = sync.OnceValue(func() process {
	p := describeSelf()
	p.Start, _ = probe(p.PID)
	if p.Start == "" {
		p.Boot = ""
	}
	return p
})
