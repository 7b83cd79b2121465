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
