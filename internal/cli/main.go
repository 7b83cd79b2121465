package cli

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// Main runs one command of a front door on args, which exclude the program's name, and gives its exit code.
func Main(ctx context.Context, f Flavour, args []string, s *Streams) int {
	d := &door{Flavour: f, Streams: s}
	root := d.root()
	root.SetArgs(args)
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	cmd, err := root.ExecuteContextC(ctx)
	d.explain(cmd, err)
	return d.Codes.code(err)
}

// StandardStreams are this process's own.
func StandardStreams() *Streams {
	s := &Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
	s.OutTTY, s.ErrTTY = isTerminal(os.Stdout), isTerminal(os.Stderr)
	if s.OutTTY {
		s.Size = func() (int, int) {
			width, height, _ := term.GetSize(int(os.Stdout.Fd())) // 0 where it cannot be told
			return width, height
		}
		s.Width, _ = s.Size()
	}
	if s.ErrTTY {
		s.ErrWidth, _, _ = term.GetSize(int(os.Stderr.Fd())) // 0 where it cannot be told
	}
	if isTerminal(os.Stdin) {
		s.Raw = func() (func(), error) {
			before, err := term.MakeRaw(int(os.Stdin.Fd()))
			return func() { _ = term.Restore(int(os.Stdin.Fd()), before) }, err
		}
	}
	return s
}

func isTerminal(f *os.File) bool { return isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd()) }

// explain says on stderr what went wrong and what to do about it.
func (d *door) explain(cmd *cobra.Command, err error) {
	var own *exit
	switch {
	case err == nil:
		return
	case errors.As(err, &own) && own.err == nil:
		return
	}
	d.words("%v", err)
	if d.Hint != nil {
		if hint := d.Hint(err); hint != "" {
			d.words("%s", hint)
		}
	}
	if d.Codes.code(err) == codeUsage {
		if cmd.Name() == "help" {
			cmd = cmd.Root()
		}
		d.words("see: %s --help", cmd.CommandPath())
	}
}

func (d *door) root() *cobra.Command {
	root := &cobra.Command{
		Use: d.Program, Short: d.Short, Long: d.Long, Example: d.Example,
		SilenceErrors: true, SilenceUsage: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if asked, _ := cmd.Flags().GetBool("version"); asked {
				return d.printVersion()
			}
			if len(args) > 0 {
				return usagef("%s: no such command%s", args[0], suggest(cmd, args[0]))
			}
			return cmd.Help()
		},
		Args: cobra.ArbitraryArgs,
	}
	root.Flags().Bool("version", false, "say which build this is")
	root.SetFlagErrorFunc(flagError)
	d.open = d.Connect(root.PersistentFlags(), d.words)
	root.AddGroup(&cobra.Group{ID: groupLock, Title: "LOCKING"}, &cobra.Group{ID: groupLook, Title: "LOOKING AND MENDING"},
		&cobra.Group{ID: groupRest, Title: "THE REST"})
	d.add(root, groupLock, d.acquire(), d.renew(), d.release(), d.run(), d.check())
	d.add(root, groupLook, d.status(), d.list(), d.top(), d.wait(), d.history(), d.forceRelease(), d.prune())
	d.add(root, groupRest, append(d.Extra, d.version())...)
	root.SetHelpCommandGroupID(groupRest)
	root.SetCompletionCommandGroupID(groupRest)
	strictHelp(root)
	helpStyle(root)
	return root
}

const (
	groupLock = "lock"
	groupLook = "look"
	groupRest = "rest"
)

func (d *door) add(root *cobra.Command, group string, commands ...*cobra.Command) {
	for _, cmd := range commands {
		cmd.GroupID = group
		cmd.Flags().SortFlags = false
		cmd.Flags().SetInterspersed(!d.FlagsFirst)
		countAsUsage(cmd)
		root.AddCommand(cmd)
	}
}

// NeedsVerb is the action of a front door's own command that only has commands below it.
func NeedsVerb(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%s %s: no such command%s", cmd.Name(), args[0], suggest(cmd, args[0]))
	}
	return usagef("%s: which? It has %s", cmd.Name(), strings.Join(names(cmd.Commands()), ", "))
}

func names(commands []*cobra.Command) []string {
	all := make([]string, len(commands))
	for i, cmd := range commands {
		all[i] = cmd.Name()
	}
	return all
}

// countAsUsage has a command, and those below it, report a wrong number of arguments as wrong usage.
func countAsUsage(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			switch {
			case check(cmd, args) == nil:
				return nil
			case len(args) == 0:
				return usagef("something is missing. Usage: %s", cmd.UseLine())
			}
			return usagef("%q is not what it takes. Usage: %s", strings.Join(args, " "), cmd.UseLine())
		}
	}
	for _, sub := range cmd.Commands() {
		countAsUsage(sub)
	}
}
