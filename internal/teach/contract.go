package teach

import "strings"

// Rule is one thing that a holder must know.
type Rule struct {
	Name string
	Text string // with {grant} and {gone} where the tongues differ
}

// Contract is what a holder must know, in the order in which it comes up.
var Contract = []Rule{
	{"when", "Take a lease before you touch what others may touch at the same time: a database, a deploy target, a shared checkout, a device."},
	{"name", "Name the thing and not the task: `deploy:staging`, not `fix-login`. All who touch it must use the same name."},
	{"ttl", "The ttl is how long others wait if you vanish, not how long the work takes. It must last for three tries to renew."},
	{"grant", "Only {grant} is a grant: with any other answer you hold nothing, so do not start the work."},
	{"reread", "Re-read what you are about to change after the grant: it may have changed while you waited."},
	{"renew", "Renew every third of the ttl."},
	{"lost", "{gone} means that the lease is gone: stop the work at once. No confirmed renewal until the ttl is nearly over means the same."},
	{"fence", "Write the fence along with your data, and have the resource refuse a lower one; an equal one is the same holder's next write."},
	{"release", "Release when the work is done, or has failed."},
	{"secret", "The lease is a secret: whoever has it can renew and release it."},
}

// Tongue is how one way to speak to a lock service says what all of them say.
type Tongue struct {
	Grant string // what alone is a grant
	Gone  string // what says that a lease is gone
}

// The tongues.
var (
	HTTP      = Tongue{"a 200", "404 `NOT_FOUND`"}
	Command   = Tongue{"exit 0", "A refused renewal, or exit 75 of `run`,"}
	Directory = Tongue{"exit 0", "Exit 12 or 13 of `renew`, or 14 of `run`,"}
	MCP       = Tongue{"a result with a fence", "LOST in any result"}
)

// Say gives the rule with a name, in a tongue. A name that is none is a mistake in the calling code, and panics.
func (t Tongue) Say(name string) string {
	for _, r := range Contract {
		if r.Name == name {
			return strings.NewReplacer("{grant}", t.Grant, "{gone}", t.Gone).Replace(r.Text)
		}
	}
	panic("teach: no rule " + name)
}
