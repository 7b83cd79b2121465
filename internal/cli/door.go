package cli

import (
	"context"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"legible.sh/mutex/internal/locker"
	"legible.sh/mutex/internal/supervise"
)

// door is one run of a front door.
type door struct {
	Flavour
	*Streams
	open Opener
	json bool
	// notify, if set, hears how a wait goes, beside the person who does.
	notify func(key string, p locker.Progress)
}

// action is what a verb does. ctx ends with the first signal that means an end.
type action func(ctx context.Context, c call) error

// call is one use of a verb: the lock service, and what stood on the command line.
type call struct {
	service locker.Locker
	where   string
	keys    []string // what stood before "--", the flags aside
	command []string // what stood behind
	signals *supervise.Signals
}

// verb makes a command that opens the lock service and acts on it. least and most bound the number of arguments
// before "--"; most below 0 is any.
func (d *door) verb(use, short string, least, most int, act action) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, DisableFlagsInUseLine: true}
	cmd.Aliases = d.Aliases[cmd.Name()]
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := d.arguments(cmd, args, least, most)
		if err != nil {
			return err
		}
		// Before the handlers are there, so that a signal ends a read of a token from a pipe that stays silent.
		if c.service, c.where, err = d.open(cmd.Context()); err != nil {
			return err
		}
		defer d.close(c.service)
		c.signals = supervise.CatchSignals(cmd.Context())
		defer c.signals.Stop()
		return act(c.signals.Context(), c)
	}
	return cmd
}

// close ends what the service has still to do, such as a history to write. What it has done stands even if that fails.
func (d *door) close(service locker.Locker) {
	if c, ok := service.(io.Closer); ok {
		if err := c.Close(); err != nil {
			d.words("%v", err)
		}
	}
}

// arguments splits and counts what stood on the command line.
func (d *door) arguments(cmd *cobra.Command, args []string, least, most int) (c call, err error) {
	c.keys, c.command = d.split(cmd, args)
	takesCommand := cmd.Name() == "run"
	bare := takesCommand && c.command == nil && len(c.keys) > 1 // no "--" at all
	late := slices.IndexFunc(c.keys, func(arg string) bool { return strings.HasPrefix(arg, "-") })
	switch {
	case bare && !(d.FlagsFirst && late == 1):
		return c, usagef("which command? It stands behind --: %s", d.withDash(cmd, c.keys))
	case d.FlagsFirst && late >= 0:
		return c, usagef("%s stands after the %s; flags stand before it. Usage: %s", c.keys[late], d.Noun, cmd.UseLine())
	case len(c.keys) < least:
		return c, usagef("which %s? Usage: %s", d.Noun, cmd.UseLine())
	case most >= 0 && len(c.keys) > most:
		return c, usagef("too many arguments: %s. Usage: %s", strings.Join(c.keys[most:], " "), cmd.UseLine())
	case len(c.command) > 0 && !takesCommand:
		return c, usagef("%s takes no command. Usage: %s", cmd.Name(), cmd.UseLine())
	case len(c.command) == 0 && takesCommand:
		return c, usagef("which command? It stands behind --. Usage: %s", cmd.UseLine())
	}
	return c, nil
}

// withDash is what was most likely meant by a line that has no "--": one key, and the rest a command. Flags are not
// repeated, since a token may be among them.
func (d *door) withDash(cmd *cobra.Command, args []string) string {
	line := cmd.Name() + " " + shellWord(args[0])
	if cmd.Flags().NFlag() > 0 {
		line = d.use(cmd.Name(), shellWord(args[0]))
	}
	line = d.Program + " " + line + " --"
	for _, arg := range args[1:] {
		line += " " + shellWord(arg)
	}
	return line
}

// split parts the arguments at "--". Where flags come first, the parser stopped at the first argument and left the
// "--" where it was.
func (d *door) split(cmd *cobra.Command, args []string) (keys, command []string) {
	if dash := cmd.ArgsLenAtDash(); dash >= 0 {
		return args[:dash], args[dash:]
	}
	if dash := slices.Index(args, "--"); dash >= 0 && d.FlagsFirst {
		return args[:dash], args[dash+1:]
	}
	return args, nil
}

// jsonFlag adds --json.
func (d *door) jsonFlag(cmd *cobra.Command) {
	usage := "print JSON"
	if d.JSONWhenPiped {
		usage += " on a terminal too"
	}
	cmd.Flags().BoolVar(&d.json, "json", false, usage)
}

// wantsJSON says how to print the result.
func (d *door) wantsJSON() bool { return d.json || d.JSONWhenPiped && !d.OutTTY }

// who says who runs this command.
func (d *door) who(name, reason string) locker.Who {
	if name == "" {
		name = os.Getenv(d.Name.Env)
	}
	if name == "" && d.Name.Default != nil {
		name = d.Name.Default()
	}
	host, _ := os.Hostname() // shown to people only; unknown is empty
	return locker.Who{Name: name, Reason: reason, Host: host, PID: os.Getpid()}
}
