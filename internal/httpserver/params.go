package httpserver

import (
	"fmt"
	"math"
	"mime"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"legible.sh/mutex/api"
	"legible.sh/mutex/internal/lease"
)

// problems collects what is wrong with a request's parameters, so that one answer names all of it.
type problems []api.ParameterProblem

func (p *problems) add(in api.ParameterIn, name, sent, expected string) {
	name, sent = withoutLeases(name), withoutLeases(sent)
	if len(sent) > 100 {
		sent = strings.ToValidUTF8(sent[:100], "") + "…"
	}
	*p = append(*p, api.ParameterProblem{In: in, Name: name, Sent: sent, Expected: expected})
}

// withoutLeases hides what a lease may be, wherever somebody has put it: an error ends in its reader's log.
func withoutLeases(text string) string { return leaseLike.ReplaceAllString(text, "(a lease)") }

var leaseLike = regexp.MustCompile("(?i)[0-9a-f]{32}")

func (p problems) err() error {
	if len(p) == 0 {
		return nil
	}
	return &paramError{problems: p}
}

// duration checks a number of seconds; absent stands for one that was not sent.
func (p *problems) duration(name string, sent *float64, least, most, absent time.Duration) time.Duration {
	if sent == nil {
		return absent
	}
	// NaN fails both comparisons.
	if !(*sent >= least.Seconds() && *sent <= most.Seconds()) {
		p.add(api.ParameterInQuery, name, formatFloat(*sent),
			fmt.Sprintf("seconds from %s to %s", formatFloat(least.Seconds()), formatFloat(most.Seconds())))
		return absent
	}
	return seconds(*sent)
}

// integer checks a whole number; 0 stands for one that was not sent.
func (p *problems) integer(in api.ParameterIn, name string, sent *int, least, most int) int {
	if sent == nil {
		return 0
	}
	if *sent < least || *sent > most {
		expected := fmt.Sprintf("a whole number from %d to %d", least, most)
		if least == most {
			expected = fmt.Sprintf("%d, the only one allowed here", least)
		}
		p.add(in, name, strconv.Itoa(*sent), expected)
		return 0
	}
	return *sent
}

// Longest idempotency key, without its quotes.
const maxKeyLength = 255

// key reads an Idempotency-Key: a bare one and one in the quotes of the draft standard are the same.
func (p *problems) key(sent *string) lease.Key {
	if sent == nil {
		return lease.Key{}
	}
	k := *sent
	if len(k) >= 2 && k[0] == '"' && k[len(k)-1] == '"' {
		k = k[1 : len(k)-1]
	}
	visible := func(r rune) bool { return r > ' ' && r <= '~' && r != '"' }
	if k == "" || len(k) > maxKeyLength || strings.IndexFunc(k, func(r rune) bool { return !visible(r) }) >= 0 {
		// The key is a secret: it is not sent back, not even to its owner.
		p.add(api.ParameterInHeader, "Idempotency-Key", fmt.Sprintf("%d characters", utf8.RuneCountInString(k)),
			fmt.Sprintf("1 to %d visible ASCII characters that nobody can guess", maxKeyLength))
		return lease.Key{}
	}
	return lease.KeyOf(k)
}

// lease reads the lease from the path, or from the header where the path has "-". instead names what else the operation
// would take, for whoever sent neither.
func (p *problems) lease(path string, header *string, instead string) lease.Token {
	const expected = "32 lower-case hex digits: the lease from your grant"
	if path == "-" && header == nil {
		p.add(api.ParameterInHeader, "X-Lease", "", expected+", because the path has - for it"+instead)
		return lease.Token{}
	}
	if header != nil {
		t, err := lease.ParseToken(*header)
		if err != nil {
			p.add(api.ParameterInHeader, "X-Lease", fmt.Sprintf("%d characters", len(*header)), expected)
			return lease.Token{}
		}
		if path != "-" && path != *header {
			p.add(api.ParameterInHeader, "X-Lease", "another lease than the path", "the same lease as in the path, or no header")
		}
		return t
	}
	t, err := lease.ParseToken(path)
	if err != nil {
		p.add(api.ParameterInPath, "lease", fmt.Sprintf("%d characters", len(path)), expected+", or - with the header X-Lease")
	}
	return t
}

// who reads what a client says about itself, from each of the places where it may, in the order in which they count.
func (p *problems) who(who *lease.Who, q *api.AcquireParams, body string) {
	who.Name = p.text("X-Name", q.XName, "name", q.Name, lease.MaxNameLength)
	who.Reason = p.text("X-Reason", q.XReason, "reason", q.Reason, lease.MaxReasonLength)
	who.Host = p.text("X-Host", q.XHost, "host", q.Host, lease.MaxHostLength)
	if who.Name == "" && body != "" {
		who.Name = p.clean(api.ParameterInBody, "name", body, lease.MaxNameLength)
	}
	who.PID = p.integer(api.ParameterInHeader, "X-Pid", q.XPid, 1, maxPID)
	if pid := p.integer(api.ParameterInQuery, "pid", q.PID, 1, maxPID); who.PID == 0 {
		who.PID = pid
	}
}

const maxPID = 1<<31 - 1

// text is a header's text, or the query's where the header has none. Both must be fit, whichever counts.
func (p *problems) text(header string, h *string, query string, q *string, limit int) string {
	var fromHeader, fromQuery string
	if h != nil {
		fromHeader = p.clean(api.ParameterInHeader, header, decodeHeader(*h), limit)
	}
	if q != nil {
		fromQuery = p.clean(api.ParameterInQuery, query, *q, limit)
	}
	if fromHeader != "" {
		return fromHeader
	}
	return fromQuery
}

func (p *problems) clean(in api.ParameterIn, name, s string, limit int) string {
	text, err := lease.CleanText(s, limit)
	if err != nil {
		p.add(in, name, strings.ToValidUTF8(s, "�"), fmt.Sprintf("up to %d characters of UTF-8", limit))
	}
	return text
}

// decodeHeader makes text of a header in whichever of the usual ways it was put there: raw UTF-8, percent-encoded, or
// an RFC 2047 encoded word. What is none of these stays as it is.
func decodeHeader(s string) string {
	if strings.HasPrefix(s, "=?") {
		if text, err := new(mime.WordDecoder).DecodeHeader(s); err == nil {
			return text
		}
	}
	if strings.Contains(s, "%") {
		if text, err := url.PathUnescape(s); err == nil && utf8.ValidString(text) {
			return text
		}
	}
	return s
}

func (p *problems) fence(sent *int64) lease.Fence {
	if sent == nil {
		return 0
	}
	if *sent < 1 || *sent > int64(lease.MaxFence) {
		p.add(api.ParameterInQuery, "fence", strconv.FormatInt(*sent, 10), fmt.Sprintf("a whole number from 1 to %d", lease.MaxFence))
	}
	return lease.Fence(*sent)
}

// Sizes of pages.
const (
	defaultEvents = 50
	maxEvents     = 1000
	maxListed     = 10000
	maxEventID    = 1<<53 - 1 // what JavaScript's numbers hold
)

func (p *problems) page(limit *int, before *int64) (n int, id int64) {
	n = defaultEvents
	if limit != nil {
		n = p.integer(api.ParameterInQuery, "limit", limit, 1, maxEvents)
	}
	if before != nil {
		id = *before
		if id < 1 || id > maxEventID {
			p.add(api.ParameterInQuery, "before", strconv.FormatInt(id, 10), "the id of an event")
		}
	}
	return n, id
}

func (p *problems) list(q api.ListTopicsParams) {
	p.integer(api.ParameterInQuery, "limit", q.Limit, 1, maxListed)
	p.partOfTopic("prefix", q.Prefix)
	p.partOfTopic("after", q.After)
	if q.State != nil && !q.State.Valid() {
		p.add(api.ParameterInQuery, "state", string(*q.State), "free or held")
	}
}

// partOfTopic checks what a topic's name may begin with: with anything else a list would be empty, whatever there is.
func (p *problems) partOfTopic(name string, sent *string) {
	if sent == nil || *sent == "" || *sent == "-" {
		return
	}
	if _, err := lease.ParseTopic(*sent); err != nil {
		p.add(api.ParameterInQuery, name, strings.ToValidUTF8(*sent, "�"), "up to 64 of a-z A-Z 0-9 _ : -")
	}
}

// seconds reads a number of seconds whose range was checked.
func seconds(f float64) time.Duration { return time.Duration(math.Round(f * float64(time.Second))) }

func formatFloat(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
