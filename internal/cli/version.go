package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func (d *door) version() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Say which build this is", Args: cobra.NoArgs, DisableFlagsInUseLine: true,
		RunE: func(*cobra.Command, []string) error { return d.printVersion() },
	}
}

func (d *door) printVersion() error {
	_, err := fmt.Fprintf(d.Out, "%s %s (%s, %s/%s)\n", d.Program, Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

// Version is the module's version, or the commit that was built, from what the linker wrote into the binary.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	commit, dirty := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+changes"
		}
	}
	if commit == "" {
		return "devel"
	}
	return commit[:min(12, len(commit))] + dirty
}
