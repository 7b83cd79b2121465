package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"legible.sh/mutex/internal/cli"
	"legible.sh/mutex/internal/journal"
)

// journals has what can be done with a data directory while no server has it, or in the case of check while one does.
func journals() *cobra.Command {
	alone := map[string]string{cli.NoteAlone: "yes"}
	cmd := &cobra.Command{Use: "journal", Short: "Look at a server's data directory, and repair it", Annotations: alone, RunE: cli.NeedsVerb}
	cmd.AddCommand(&cobra.Command{
		Use: "check DIR", Short: "Say what is in a journal and what is damaged", Args: cobra.ExactArgs(1),
		DisableFlagsInUseLine: true, Annotations: alone,
		Long: `check reads the journal in DIR and changes nothing. It exits 1 if anything is damaged. A torn record at the end,
from a crash, is no damage: it was never acknowledged, and the next start drops it.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := journal.Check(args[0], journalOptions())
			if err != nil {
				return err
			}
			return reportJournal(cmd.OutOrStdout(), r)
		},
	}, &cobra.Command{
		Use: "repair DIR", Short: "Make a damaged journal one that a server starts with", Args: cobra.ExactArgs(1),
		DisableFlagsInUseLine: true, Annotations: alone,
		Long: `repair keeps a backup of the journal in DIR and drops only the lines that cannot be read. It raises all fences so
far that none can repeat. A lease whose grant was lost is gone; one whose end was lost lives until its time is over.
It refuses while a server has the directory.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := journal.Repair(args[0], journalOptions())
			if errors.Is(err, journal.ErrNoDamage) {
				return reportJournal(cmd.OutOrStdout(), r)
			}
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: damaged lines dropped: %d; fences go on above %d; the file as it was is %s\n",
				r.Path, len(r.Damage), r.RaisedTo, r.Backup)
			return err
		},
	})
	return cmd
}

// keepPlace is a server's default for how long keys are remembered; it only counts for what a report says lives.
const keepPlace = 30 * time.Second

func journalOptions() journal.Options {
	return journal.Options{Keep: keepPlace, Log: slog.New(slog.DiscardHandler)}
}

// reportJournal prints what is in a journal. Its error says that something is damaged.
func reportJournal(w io.Writer, r *journal.Report) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d bytes, %d records, %d topics, %d leases\n", r.Path, r.Size, r.Records, r.Topics, r.Leases)
	if r.Blank > 0 {
		fmt.Fprintf(&b, "%d of the bytes are blank lines, ready for records to come\n", r.Blank)
	}
	if r.Torn > 0 {
		fmt.Fprintf(&b, "%d bytes at the end were never acknowledged; the next start drops them\n", r.Torn)
	}
	for _, d := range r.Damage {
		fmt.Fprintf(&b, "line %d: %v\n", d.Line, d.Reason)
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	if len(r.Damage) > 0 {
		return fmt.Errorf("damaged lines: %d; mutex journal repair keeps a backup and drops only those", len(r.Damage))
	}
	return nil
}
