package cli

import (
	"github.com/spf13/cobra"
)

// helpStyle gives help the sections of a manual page.
func helpStyle(root *cobra.Command, _ *door) {
	root.SetHelpTemplate(`{{with .Long}}{{.}}{{else}}{{.Short}}.{{end}}

{{.UsageString}}`)
	root.SetUsageTemplate(usageTemplate)
}

const usageTemplate = `Usage:
{{- if .HasAvailableSubCommands}}
  {{.CommandPath}} COMMAND
{{- else}}
  {{.UseLine}}
{{- end}}
{{- if .Aliases}}

Also:
  {{.NameAndAliases}}
{{- end}}
{{- if .HasExample}}

Examples:
{{.Example}}
{{- end}}
{{- if .HasAvailableSubCommands}}{{$cmds := .Commands}}
{{- range $group := .Groups}}

{{.Title}}:
{{- range $cmds}}{{if and (eq .GroupID $group.ID) (or .IsAvailableCommand (eq .Name "help"))}}
  {{rpad .Name .NamePadding}} {{.Short}}
{{- end}}{{end}}
{{- end}}
{{- end}}
{{- if .HasAvailableLocalFlags}}

Flags:
{{.LocalFlags.FlagUsagesWrapped 100 | trimTrailingWhitespaces}}
{{- end}}
{{- if .HasAvailableInheritedFlags}}

Global flags:
{{.InheritedFlags.FlagUsagesWrapped 100 | trimTrailingWhitespaces}}
{{- end}}
{{- if .HasAvailableSubCommands}}

"{{.CommandPath}} help COMMAND" tells all about one.
{{- end}}
`
