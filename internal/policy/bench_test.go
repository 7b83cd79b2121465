package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"legible.sh/mutex/internal/policy"
)

// BenchmarkDecide is what a request pays for access control.
func BenchmarkDecide(b *testing.B) {
	var many strings.Builder
	many.WriteString("rules:\n")
	for i := range 100 {
		fmt.Fprintf(&many, "  - {topic: 'team-%d:*', acquire: ['${ci}']}\n", i)
	}
	token := policy.Options{Tokens: []string{serverToken}, AdminToken: adminToken, Limits: defaults}
	for name, c := range map[string]struct {
		p     *policy.Policy
		token string
	}{
		"open":      {policy.New(policy.Options{Limits: defaults}), ""},
		"token":     {policy.New(token), serverToken},
		"rules=5":   {load(b, token, example), serverToken},
		"rules=100": {load(b, token, many.String()), serverToken},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.p.Decide("deploy:staging", policy.Acquire, c.token); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
