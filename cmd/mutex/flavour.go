package main

import (
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"legible.sh/mutex/internal/cli"
	"legible.sh/mutex/internal/locker"
)

const (
	defaultTTL  = 60 * time.Second
	defaultWait = 300 * time.Second
)

const long = `mutex takes, keeps and gives back named leases, so that of many agents, scripts and jobs only one does a
thing at a time. A lease is not a lock: it ends by its ttl when its holder falls silent. So write its fence along
with your data, and have the resource refuse a lower one.`

const example = `  mutex run deploy:staging -- ./deploy.sh           acquire, keep alive, run, release
  mutex acquire deploy:staging --ttl 60 --wait 300  prints the grant; renew and release are up to you
  mutex status deploy:staging                       who holds it, who waits
  mutex serve                                       a server of your own, on 127.0.0.1:4185`

// flavour is what makes the shared commands mutex's.
func flavour() cli.Flavour {
	t := &target{}
	return cli.Flavour{
		Program: "mutex", Noun: "topic",
		Short: "Named leases for agents, scripts and CI jobs", Long: long, Example: example,
		Many: true, Semaphores: true, Remote: true, JSONWhenPiped: true,
		TTL:      defaultTTL,
		Name:     cli.NameFlag{Flag: "name", Env: "MUTEX_NAME"},
		Lease:    cli.LeaseFlags{Arg: true, FileFlag: "lease-file", Env: "MUTEX_LEASE", EnvKeys: "MUTEX_TOPIC"},
		Export:   cli.ExportFlag{Flag: "no-export-lease", Usage: "keep MUTEX_LEASE out of the command's environment", Withholds: true},
		Codes:    cli.Codes{Busy: 1, Timeout: 1, NotHolder: 1, NotHeld: 1, Lost: 75, NotExecutable: 126},
		Shapes:   cli.WireShapes(),
		Aliases:  map[string][]string{"list": {"ls"}, "history": {"log"}},
		Extra:    []*cobra.Command{serve(), t.benchmark(), token(), policies(), journals(), fences(), t.teaching(), t.agents()},
		Hint:     t.hint,
		Connect:  t.connect,
		Patience: patience,
		Environ:  t.environ,
	}
}

func patience(flags *pflag.FlagSet) func() time.Duration {
	wait := cli.Duration(defaultWait)
	flags.Var(&wait, "wait", "how long to wait in line; 0 fails at once")
	return wait.D
}

// environ is set last, so that a nested run sees its own leases: lists in the order in which the topics were given.
func (t *target) environ(grants []locker.Grant, export bool) []string {
	var topics, leases, fences, slots []string
	for _, g := range grants {
		topics = append(topics, g.Key)
		leases = append(leases, g.Token.Reveal())
		fences = append(fences, strconv.FormatInt(g.Fence, 10))
		slots = append(slots, strconv.Itoa(g.Slot))
	}
	env := []string{
		"MUTEX_TOPIC=" + strings.Join(topics, ","),
		"MUTEX_FENCE=" + strings.Join(fences, ","),
		"MUTEX_SLOT=" + strings.Join(slots, ","),
	}
	lease := ""
	if export {
		lease = strings.Join(leases, ",")
	}
	return append(env, "MUTEX_LEASE="+lease, "MUTEX_URL="+t.used)
}
