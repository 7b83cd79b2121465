package api

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Why a parameter was refused, as the Err of a [ParamError]. Any other Err
// means that the value is not of the parameter's type.
var (
	ErrUnknownParam  = errors.New("no such parameter")
	ErrRepeatedParam = errors.New("sent more than once")
	ErrMalformed     = errors.New("not well-formed percent-encoding")
)

// ParamError is one parameter that cannot be bound.
type ParamError struct {
	In    string // "query" or "header"
	Name  string // as sent
	Value string // as sent, decoded where it could be
	Err   error
}

func (e *ParamError) Error() string {
	return fmt.Sprintf("%s parameter %q: %v", e.In, e.Name, e.Err)
}

func (e *ParamError) Unwrap() error { return e.Err }

// BindError says everything that kept a request from being bound. Ranges and
// patterns are not its business: the parameters that did bind are in Params,
// so that whoever answers can check those too and name every fault at once.
type BindError struct {
	OperationID string   // as in the document
	Params      any      // the operation's Params struct, or nil if it has none
	Known       []string // the query parameters that the operation has
	Errs        []*ParamError
}

func (e *BindError) Error() string {
	return errors.Join(e.Unwrap()...).Error()
}

// Unwrap returns Errs, for [errors.Is] and [errors.As].
func (e *BindError) Unwrap() []error {
	errs := make([]error, len(e.Errs))
	for i, p := range e.Errs {
		errs[i] = p
	}
	return errs
}

// query walks a raw query once, parameter by parameter, and allocates only
// where something is percent-encoded.
type query struct {
	rest string
	param
}

// param is one name and value of a query or a header.
type param struct {
	in, name, value string
	malformed       bool
}

func (p param) bad(err error) *ParamError {
	return &ParamError{In: p.in, Name: p.name, Value: p.value, Err: err}
}

// next moves to the next parameter. Like [url.ParseQuery] it skips empty ones
// and refuses semicolons.
func (q *query) next() bool {
	for q.rest != "" {
		var pair string
		pair, q.rest, _ = strings.Cut(q.rest, "&")
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		q.param = param{in: "query", malformed: strings.Contains(pair, ";")}
		q.name = q.decode(name)
		q.value = q.decode(value)
		return true
	}
	return false
}

func (q *query) decode(s string) string {
	decoded, err := url.QueryUnescape(s)
	if err != nil {
		q.malformed = true
		return s
	}
	return decoded
}

// bindWith sets *dst to what parse makes of p, or notes why it cannot.
func bindWith[T any](dst **T, p param, bad *[]*ParamError, parse func(string) (T, error)) {
	err := ErrMalformed
	if !p.malformed {
		err = ErrRepeatedParam
		if *dst == nil {
			var v T
			if v, err = parse(p.value); err == nil {
				*dst = &v
				return
			}
		}
	}
	*bad = append(*bad, p.bad(err))
}

func bindString[T ~string](dst **T, p param, bad *[]*ParamError) {
	bindWith(dst, p, bad, func(s string) (T, error) { return T(s), nil })
}

// bindNumber takes NaN and infinities as numbers: a range is to be checked as
// v >= lo && v <= hi, which they fail.
func bindNumber(dst **float64, p param, bad *[]*ParamError) {
	bindWith(dst, p, bad, parseNumber)
}

// parseNumber is [strconv.ParseFloat] with a way around it for what nearly every request sends, 60 or 0.5. Not for the
// time: its frame is so large that it doubles the stack of the goroutine that calls it, and thousands of those may be
// parked afterwards.
func parseNumber(s string) (float64, error) {
	whole, fraction, _ := strings.Cut(s, ".")
	if n, ok := parseDigits(whole + fraction); ok && whole != "" {
		return float64(n) / powersOfTen[len(fraction)], nil // both exact, so the quotient is rounded once, and rightly
	}
	return strconv.ParseFloat(s, 64)
}

// powersOfTen are those that go with as many digits as a float64 holds exactly.
var powersOfTen = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// parseDigits reads up to 15 decimal digits.
func parseDigits(s string) (n int64, ok bool) {
	if s == "" || len(s) > 15 {
		return 0, false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = 10*n + int64(s[i]-'0')
	}
	return n, true
}

func bindInteger[T ~int | ~int64](dst **T, p param, bad *[]*ParamError) {
	bindWith(dst, p, bad, func(s string) (T, error) {
		n, err := strconv.ParseInt(s, 10, 64)
		return T(n), err
	})
}

func bindBoolean(dst **bool, p param, bad *[]*ParamError) {
	bindWith(dst, p, bad, strconv.ParseBool)
}

func bindTime(dst **time.Time, p param, bad *[]*ParamError) {
	bindWith(dst, p, bad, func(s string) (time.Time, error) { return time.Parse(time.RFC3339, s) })
}
