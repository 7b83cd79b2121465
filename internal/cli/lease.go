package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"legible.sh/mutex/internal/locker"
)

// leaseFlags are the flags of a command that needs the lease, and where it found the lease.
type leaseFlags struct {
	d           *door
	token, file string
	from        string // where find found it, for errors
}

func (d *door) leaseFlags(cmd *cobra.Command) *leaseFlags {
	l := &leaseFlags{d: d}
	if d.Lease.Flag != "" {
		cmd.Flags().StringVar(&l.token, d.Lease.Flag, "", "the lease's `token`; whoever lists processes can see it, so better use a file or "+d.Lease.Env)
	}
	cmd.Flags().StringVar(&l.file, d.Lease.FileFlag, "", "a `file` that holds the lease, or what acquire printed; - is stdin")
	return l
}

// find gives the lease on the first of the arguments: from what stood after it, or from a flag, or from the environment.
func (l *leaseFlags) find(ctx context.Context, args []string) (locker.Token, error) {
	key, rest := args[0], args[1:]
	env := os.Getenv(l.d.Lease.Env)
	switch {
	case len(rest) == 1 && rest[0] == "-":
		l.from = "stdin"
		return l.read(ctx, key, "-")
	case len(rest) == 1:
		l.from = "the argument after the " + l.d.Noun
		return parseLease(l.from, rest[0])
	case l.token != "":
		l.from = "--" + l.d.Lease.Flag
		return parseLease(l.from, l.token)
	case l.file != "":
		l.from = "--" + l.d.Lease.FileFlag + " " + l.file
		return l.read(ctx, key, l.file)
	case env != "":
		l.from = l.d.Lease.Env
		return l.ofEnv(key, env)
	}
	return "", usagef("which lease? Give it %s", l.ways())
}

// ofEnv takes the lease on key out of those that a run of several keys has put into the environment.
func (l *leaseFlags) ofEnv(key, env string) (locker.Token, error) {
	leases := strings.Split(env, ",")
	if len(leases) == 1 || l.d.Lease.EnvKeys == "" {
		return parseLease(l.from, env)
	}
	keys := strings.Split(os.Getenv(l.d.Lease.EnvKeys), ",")
	i := slices.Index(keys, key)
	if i < 0 || i >= len(leases) {
		return "", usagef("%s: the leases in it are on %s, not on %s", l.from, strings.Join(keys, ", "), key)
	}
	return parseLease(l.from, leases[i])
}

// explain says where a lease came from that the service does not take for one: it may have been meant for another key.
func (l *leaseFlags) explain(cmd *cobra.Command, err error) error {
	if !errors.Is(err, locker.ErrNotLease) {
		return err
	}
	return usagef("%s: %v. Usage: %s", l.from, err, cmd.UseLine())
}

func (l *leaseFlags) ways() string {
	ways := fmt.Sprintf("in %s or by --%s FILE", l.d.Lease.Env, l.d.Lease.FileFlag)
	if l.d.Lease.Arg {
		ways += fmt.Sprintf(", or after the %s; - reads it from stdin", l.d.Noun)
	}
	return ways
}

var errNoLease = errors.New("no lease in it")

func parseLease(from, text string) (locker.Token, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return "", usagef("%s: %v", from, errNoLease)
	}
	if len(text) > 256 || strings.ContainsAny(text, " \t\r\n{}\"") {
		return "", usagef("%s: that is not a lease", from)
	}
	return locker.Token(text), nil
}
