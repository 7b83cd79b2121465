package httpserver

import (
	"net/http"
	"strconv"
	"strings"
)

// The types that an answer is offered in.
const (
	typeJSON     = "application/json"
	typeHTML     = "text/html"
	typeText     = "text/plain"
	typeMarkdown = "text/markdown"
	typeStream   = "text/event-stream"
)

var varyAccept = []string{"Accept"}

// varies says that an answer depends on Accept, beside the Origin that it may depend on already.
func varies(h http.Header) {
	if h["Vary"] == nil {
		h["Vary"] = varyAccept // shared, so that most answers need none of their own
		return
	}
	h.Add("Vary", "Accept")
}

// preferred picks the offer that the client likes best (RFC 9110, 12.5.1); among equals, and for one that likes none,
// the first. A wildcard only ever means the first: curl and SDKs that send */* want data, and browsers name HTML.
func preferred(accept []string, offers ...string) string {
	if len(accept) == 0 || accept[0] == "*/*" {
		return offers[0]
	}
	best, bestQ := offers[0], 0.0
	for _, header := range accept {
		for part := range strings.SplitSeq(header, ",") {
			kind, params, _ := strings.Cut(part, ";")
			kind = strings.ToLower(strings.TrimSpace(kind))
			q := quality(params)
			if kind == "*/*" {
				kind = offers[0]
			}
			for _, offer := range offers {
				if kind == offer && q > bestQ {
					best, bestQ = offer, q
				}
			}
		}
	}
	return best
}

// quality reads the weight of a media range; one that cannot be read counts as 1.
func quality(params string) float64 {
	for p := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(p), "=")
		if strings.EqualFold(name, "q") {
			if q, err := strconv.ParseFloat(value, 64); err == nil && q >= 0 && q <= 1 {
				return q
			}
		}
	}
	return 1
}
