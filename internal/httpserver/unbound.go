package httpserver

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"legible.sh/mutex/api"
	"legible.sh/mutex/internal/lease"
)

// bindProblems puts the binder's findings into words.
func (s *Server) bindProblems(e *api.BindError) problems {
	var found problems
	for _, b := range e.Errs {
		sent, want := b.Value, expected(b, e.Known)
		if header := misplaced(b); header != "" {
			// Such a value is a secret: it is not sent back.
			sent, want = fmt.Sprintf("%d characters", utf8.RuneCountInString(sent)), "it as the header "+header+", not in the query"
		}
		found.add(api.ParameterIn(b.In), b.Name, sent, want)
	}
	return found
}

// misplaced gives the header that an unknown query parameter should have been, or "".
func misplaced(b *api.ParamError) string {
	if !errors.Is(b.Err, api.ErrUnknownParam) {
		return ""
	}
	return headersMeant[strings.ReplaceAll(strings.ToLower(b.Name), "_", "-")]
}

var headersMeant = map[string]string{
	"idempotency-key": "Idempotency-Key", "key": "Idempotency-Key", "lease": "X-Lease", "x-lease": "X-Lease",
	"token": "Authorization: Bearer <token>", "access-token": "Authorization: Bearer <token>", "authorization": "Authorization: Bearer <token>",
}

func expected(b *api.ParamError, known []string) string {
	switch {
	case errors.Is(b.Err, api.ErrUnknownParam):
		return unknownParam(b.Name, known)
	case errors.Is(b.Err, api.ErrRepeatedParam):
		return "one value"
	case errors.Is(b.Err, api.ErrMalformed):
		return "well-formed percent-encoding, and & between parameters"
	}
	if what, ok := expectations[b.Name]; ok {
		return what
	}
	return "another kind of value"
}

// expectations says what a value that could not be read at all should have been.
var expectations = map[string]string{
	"ttl": "a number of seconds, such as 60 or 0.5", "wait": "a number of seconds, such as 300",
	"capacity": "a whole number", "pid": "a whole number", "X-Pid": "a whole number", "fence": "a whole number",
	"limit": "a whole number", "before": "a whole number", "dry_run": "true or false", "renewals": "true or false",
	"since": "a time such as 2026-03-01T00:00:00Z",
}

func unknownParam(name string, known []string) string {
	if len(known) == 0 {
		return "no query parameter here"
	}
	if near := nearest(name, known); near != "" {
		return fmt.Sprintf("%s (there are: %s)", near, strings.Join(known, ", "))
	}
	return "one of: " + strings.Join(known, ", ")
}

// nearest finds what a misspelt name was meant to be: one of the same letters, in whatever order and however often
// each, or the beginning of a name, or one with an end too many, or else with one letter wrong.
func nearest(name string, known []string) string {
	for _, k := range known {
		if strings.EqualFold(k, name) || sameLetters(k, name) || strings.HasPrefix(k, name) || strings.HasPrefix(name, k) {
			return k
		}
	}
	for _, k := range known {
		if oneSlip(k, strings.ToLower(name)) {
			return k
		}
	}
	return ""
}

// oneSlip tells whether two names differ in one letter that is wrong, missing or too many.
func oneSlip(a, b string) bool {
	for a != "" && b != "" && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for a != "" && b != "" && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return len(a) <= 1 && len(b) <= 1
}

func sameLetters(a, b string) bool {
	x, y := []byte(strings.ToLower(a)), []byte(strings.ToLower(b))
	slices.Sort(x)
	slices.Sort(y)
	x, y = slices.Compact(x), slices.Compact(y)
	return slices.Equal(x, y)
}

// rangeProblems checks the ranges of those parameters that could be bound, when others could not: one answer names
// everything that is wrong.
func (s *Server) rangeProblems(params any) problems {
	var bad problems
	l := s.options.Limits
	switch p := params.(type) {
	case api.AcquireParams:
		bad.duration("ttl", p.TTL, minTTL, l.MaxTTL, 0)
		bad.duration("wait", p.Wait, 0, l.MaxWait, 0)
		bad.integer(api.ParameterInQuery, "capacity", p.Capacity, 1, l.MaxCapacity)
		bad.key(p.IdempotencyKey)
		bad.who(new(lease.Who), &p, "")
	case api.RenewParams:
		bad.duration("ttl", p.TTL, minTTL, l.MaxTTL, 0)
	case api.ForceReleaseParams:
		bad.fence(p.Fence)
	case api.GetHistoryParams:
		bad.page(p.Limit, p.Before)
	case api.ListHistoryParams:
		bad.page(p.Limit, p.Before)
		bad.partOfTopic("prefix", p.Prefix)
	case api.ListTopicsParams:
		bad.list(p)
	}
	return bad
}
