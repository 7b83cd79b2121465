package cli

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// What a command's annotations tell help. Exit status and environment have sections of their own.
const (
	noteExit = "exit"
	noteEnv  = "environment"
	// NoteAlone, set to anything, says that the flags of all verbs mean nothing to this one.
	NoteAlone = "alone"
)

// helpStyle gives help the sections of a manual page.
func helpStyle(root *cobra.Command) {
	cobra.AddTemplateFunc("indent", indent)
	cobra.AddTemplateFunc("fill", fill)
	cobra.AddTemplateFunc("flags", func(cmd *cobra.Command) string {
		return strings.TrimRight(cmd.LocalFlags().FlagUsagesWrapped(100), " \n")
	})
	cobra.AddTemplateFunc("globals", func(cmd *cobra.Command) string {
		return strings.TrimRight(cmd.InheritedFlags().FlagUsagesWrapped(100), " \n")
	})
	root.SetHelpTemplate(helpTemplate)
	root.SetUsageTemplate(helpTemplate)
}

// helpWidth is how wide help is written.
const helpWidth = 98

// indent sets a text off.
func indent(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = "  " + line
		}
	}
	return strings.Join(lines, "\n")
}

// fill breaks the lines of each paragraph anew, but of those that are set off already.
func fill(text string) string {
	paragraphs := strings.Split(text, "\n\n")
	for i, p := range paragraphs {
		if strings.HasPrefix(p, " ") {
			continue
		}
		var b strings.Builder
		column := 0
		for _, word := range strings.Fields(p) {
			switch n := utf8.RuneCountInString(word); {
			case column == 0:
				column = n
			case column+1+n > helpWidth-2:
				b.WriteByte('\n')
				column = n
			default:
				b.WriteByte(' ')
				column += 1 + n
			}
			b.WriteString(word)
		}
		paragraphs[i] = b.String()
	}
	return strings.Join(paragraphs, "\n\n")
}

const helpTemplate = `NAME
  {{.CommandPath}}: {{.Short}}

SYNOPSIS
{{- if .HasAvailableSubCommands}}
  {{.CommandPath}} COMMAND [flags]
{{- else}}
  {{.UseLine}}
{{- range .Aliases}}
  {{$.Parent.CommandPath}} {{.}} …
{{- end}}
{{- end}}
{{- with .Long}}

DESCRIPTION
{{indent (fill .)}}
{{- end}}
{{- if .HasAvailableSubCommands}}{{$all := .Commands}}
{{- range $group := .Groups}}

{{$group.Title}}
{{- range $all}}{{if and (eq .GroupID $group.ID) (or .IsAvailableCommand (eq .Name "help"))}}
  {{rpad .Name 14}} {{.Short}}
{{- end}}{{end}}
{{- end}}
{{- end}}
{{- if .HasAvailableLocalFlags}}

FLAGS
{{flags .}}
{{- end}}
{{- if and .HasAvailableInheritedFlags (not (index .Annotations "alone"))}}

GLOBAL FLAGS
{{globals .}}
{{- end}}
{{- with index .Annotations "environment"}}

ENVIRONMENT
{{indent .}}
{{- end}}
{{- with index .Annotations "exit"}}

EXIT STATUS
{{indent .}}
{{- end}}
{{- if .HasExample}}

EXAMPLES
{{.Example}}
{{- end}}
{{- if .HasAvailableSubCommands}}

"{{.Root.Name}} help{{if .HasParent}} {{.Name}}{{end}} COMMAND" tells all about one.
{{- end}}
`

// manual is what help says of a verb beyond its flags. In its texts {program}, {topic} and {TOPIC} stand for the front
// door's own words, and {or unreachable} for nothing where there is no server.
type manual struct{ long, exit, env, example string }

// document gives a command its manual.
func (d *door) document(cmd *cobra.Command, m manual) {
	unreachable := ""
	if d.Remote {
		unreachable = ", or the server cannot be reached"
	}
	own := strings.NewReplacer("{or unreachable}", unreachable, "{program}", d.Program, "{topic}", d.Noun, "{TOPIC}", upper(d.Noun), "{LEASE}", d.Lease.Env)
	cmd.Long = own.Replace(m.long)
	cmd.Example = strings.TrimRight(indent(own.Replace(m.example)), " ")
	cmd.Annotations = map[string]string{noteExit: own.Replace(m.exit), noteEnv: own.Replace(m.env)}
}

// exits lists exit codes with their meanings, which come in pairs; a code that stands twice is given once.
func exits(pairs ...any) string {
	var b strings.Builder
	at := map[string]int{}
	var codes []string
	var means []string
	for i := 0; i+1 < len(pairs); i += 2 {
		code, mean := fmt.Sprint(pairs[i]), fmt.Sprint(pairs[i+1])
		if n, seen := at[code]; seen {
			means[n] += "; " + mean
			continue
		}
		at[code] = len(codes)
		codes, means = append(codes, code), append(means, mean)
	}
	for i := range codes {
		fmt.Fprintf(&b, "%-7s %s\n", codes[i], means[i])
	}
	return b.String()
}
