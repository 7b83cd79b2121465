package main

import (
	"fmt"
	"os"
	"os/user"
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"legible.sh/mutex/internal/cli"
	"legible.sh/mutex/internal/dirstore"
	"legible.sh/mutex/internal/locker"
)

// minRunTTL leaves a run time to notice that a renewal failed, and to end what it started.
const minRunTTL = 5 * time.Second

const long = `agentmutex takes, keeps and gives back named leases, so that of many agents, scripts and jobs on one machine
only one does a thing at a time. There is no server: what is held stands in a directory of plain files.
A lease is not a lock: it ends by its ttl when its holder falls silent. So write its fence along with your data,
and have the resource refuse a lower one. Flags stand before the key.`

const example = `  agentmutex run deploy:staging -- ./deploy.sh     acquire, keep alive, run, release
  token=$(agentmutex acquire --ttl 20m deploy)     prints the token; renew and release are up to you
  AGENTMUTEX_TOKEN=$token agentmutex release deploy
  agentmutex status deploy:staging                 who holds it, who waits
  agentmutex list                                  everything that is held, awaited or broken`

// flavour is what makes the shared commands agentmutex's.
func (t *target) flavour() cli.Flavour {
	return cli.Flavour{
		Program: "agentmutex", Noun: "key",
		Short: "Named leases for the processes of one machine, without a server", Long: long, Example: example,
		FlagsFirst: true,
		TTL:        dirstore.DefaultTTL, MinRunTTL: minRunTTL,
		Name:  cli.NameFlag{Flag: "agent", Env: "AGENTMUTEX_AGENT", Default: userAtHost},
		Lease: cli.LeaseFlags{Flag: "token", FileFlag: "token-file", Env: "AGENTMUTEX_TOKEN"},
		Export: cli.ExportFlag{
			Flag: "export-token", Usage: "put AGENTMUTEX_TOKEN into the command's environment",
		},
		Codes:  cli.Codes{Busy: 10, Timeout: 11, NotHolder: 12, NotHeld: 13, Lost: 14, NotExecutable: 127},
		Shapes: t.shapes(),
		Aliases: map[string][]string{
			"acquire": {"lock"}, "release": {"unlock"}, "list": {"ls"}, "history": {"log"},
		},
		Hint:        hint,
		Connect:     t.connect,
		Patience:    patience,
		PrintGrants: printTokens,
		Environ:     t.environ,
	}
}

func patience(flags *pflag.FlagSet) func() time.Duration {
	var timeout cli.Duration
	var noWait bool
	flags.Var(&timeout, "timeout", "how long to wait in line; 0 is for ever")
	flags.BoolVar(&noWait, "no-wait", false, "do not wait: exit 10 if it is held")
	return func() time.Duration {
		switch {
		case noWait:
			return 0
		case timeout <= 0:
			return locker.Forever
		}
		return timeout.D()
	}
}

// printTokens prints the token alone, for token=$(agentmutex acquire KEY).
func printTokens(s *cli.Streams, grants []locker.Grant) error {
	for _, g := range grants {
		if _, err := fmt.Fprintln(s.Out, g.Token.Reveal()); err != nil {
			return err
		}
	}
	return nil
}

// environ is what the command of a run sees of its lease.
func (t *target) environ(grants []locker.Grant, export bool) []string {
	g := grants[0] // one key a run
	token := ""
	if export {
		token = g.Token.Reveal()
	}
	fence := strconv.FormatInt(g.Fence, 10)
	return []string{
		envKey + "=" + g.Key,
		envDir + "=" + t.store.Dir(),
		envFence + "=" + fence,
		envHeld + "=" + t.chain(g.Key+"@"+fence),
		"AGENTMUTEX_TOKEN=" + token, // an outer run's is not this command's
	}
}

// userAtHost is who runs this, as far as the system knows.
func userAtHost() string {
	name := "unknown"
	if u, err := user.Current(); err == nil && u.Username != "" {
		name = u.Username
	}
	host, err := os.Hostname()
	if err != nil {
		return name
	}
	return name + "@" + host
}
