package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"legible.sh/mutex/internal/locker"
)

// Flavour is what differs between the front doors. Each main fills one in and hands it to [Main].
type Flavour struct {
	Program string // the command's own name, as users type it
	Noun    string // what the name of a lock is called: "topic", "key"
	Short   string // one line
	Long    string // what help begins with
	Example string // what help shows

	// FlagsFirst makes a flag after the key a usage error. Else flags stand anywhere before "--".
	FlagsFirst bool
	// Many lets acquire and run take several keys, all or none.
	Many bool
	// Semaphores gives acquire and run the flag --capacity.
	Semaphores bool
	// Remote lets help speak of a server and of connections to it.
	Remote bool
	// JSONWhenPiped makes JSON the default when stdout is no terminal. Else only --json does.
	JSONWhenPiped bool

	TTL       time.Duration // default of --ttl
	MinRunTTL time.Duration // run refuses a shorter --ttl; 0 for no limit
	Name      NameFlag
	Lease     LeaseFlags
	Export    ExportFlag
	Codes     Codes
	Shapes    Shapes
	Aliases   map[string][]string // verb -> other names for it
	Extra     []*cobra.Command    // verbs that only this front door has

	// Hint says what to do about an error, beyond its text; "" for nothing. May be nil.
	Hint func(err error) string
	// Connect adds the flags that say which lock service to use, for every verb, and gives the function that
	// opens it once they are parsed. warn takes words for people, on stderr.
	Connect func(flags *pflag.FlagSet, warn func(format string, args ...any)) Opener
	// Patience adds the flags that say how long acquire and run wait, and gives the function that reads them:
	// 0 fails at once, [locker.Forever] has no limit.
	Patience func(flags *pflag.FlagSet) func() time.Duration
	// PrintGrants writes what acquire prints when no JSON is asked for; nil for a table.
	PrintGrants func(s *Streams, grants []locker.Grant) error
	// Environ gives what run adds to the command's environment, for the leases in the order their keys were
	// given. Secrets go in only if export is true.
	Environ func(grants []locker.Grant, export bool) []string
}

// Opener gives the lock service that the flags name. Where says in words which that is, for errors.
type Opener func(ctx context.Context) (service locker.Locker, where string, err error)

// NameFlag says how a holder's name is given.
type NameFlag struct {
	Flag    string        // without dashes
	Env     string        // used when the flag is not
	Default func() string // when neither is; nil leaves it to the service
}

// LeaseFlags says where renew, release and check take the lease from: the first of these that is there.
type LeaseFlags struct {
	Arg      bool   // the argument after the key; "-" reads it from stdin
	Flag     string // a flag, without dashes; "" for none. Shown to whoever lists processes
	FileFlag string // a flag that names a file; "-" is stdin
	Env      string // a variable; of several leases, separated by commas, the one on the key counts
	EnvKeys  string // the variable that says which keys those are on, likewise; "" where there is never more than one
}

// ExportFlag is the flag by which run puts the lease into the command's environment, or withholds it.
type ExportFlag struct {
	Flag      string
	Usage     string
	Withholds bool // the flag withholds; without it the lease is exported
}

// Codes are the exit codes that differ. Common to all are 0 for success, 1 for any other error, 2 for wrong
// usage, 11 for a wait that timed out, 127 for a command that is not there, 128+n for signal n.
type Codes struct {
	Busy      int // held, and not to wait
	Timeout   int // not granted within the wait
	NotHolder int // the lease is over: another holds the key now
	NotHeld   int // the lease is over: nothing is held, or it is not known who holds
	Lost      int // run: the lease was lost, or --max-hold has passed
	// NotExecutable is run's for a program that is there and cannot be executed; 127 is for one that is not there.
	NotExecutable int
}

// Shapes turn results into what is printed as JSON.
type Shapes struct {
	Grant    func(locker.Grant) any
	Renewal  func(locker.Renewal) any
	Released func(locker.Released) any
	Check    func(locker.Renewal) any
	Status   func(locker.Status) any
	List     func([]locker.Status) any
	History  func([]locker.Event) any
	Pruned   func(locker.Pruned) any
	Forced   func(locker.Forced) any
}
