package cli

import (
	"fmt"
	"strings"
)

func upper(noun string) string { return strings.ToUpper(noun) }

func integer[T int | int64](n T) string { return fmt.Sprint(n) }

// orDash shows that there is nothing.
func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// plural counts things.
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
