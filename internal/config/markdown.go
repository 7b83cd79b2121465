package config

import (
	"fmt"
	"strings"
)

// Markdown is the table of all settings, for the README.
func Markdown() string {
	var b strings.Builder
	b.WriteString("| flag, variable | default | what |\n| --- | --- | --- |\n")
	for f := range settings() {
		fallback := f.Tag.Get("envDefault")
		if fallback != "" {
			fallback = "`" + fallback + "`"
		}
		fmt.Fprintf(&b, "| `--%s`<br>`%s` | %s | %s |\n", flagName(f), variable(f), fallback, f.Tag.Get("help"))
	}
	return b.String()
}
