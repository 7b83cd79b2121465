package web

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"legible.sh/mutex/api"
)

// Row is one topic of the dashboard.
type Row struct {
	api.TopicSummary
	Queued *api.Time // since when the one who has waited longest waits; nil: nobody
}

// Choice is what a reader of the dashboard wants to see, as its URL says it.
type Choice struct {
	Filter string        // in the topic's name, or a holder's name, host or reason
	State  string        // held, free or waited; "" for all
	Sort   string        // topic, held, ends, waiting or waited
	Down   bool          // the largest first
	Page   int           // from 1
	Span   time.Duration // how far back the charts go
}

// perPage is how many topics one page of the dashboard lists.
const perPage = 100

// Spans are the spans of time that a dashboard offers, the usual one first.
var Spans = []time.Duration{24 * time.Hour, time.Hour, 7 * 24 * time.Hour, 30 * 24 * time.Hour}

var spanNames = map[time.Duration]string{
	time.Hour: "1h", 24 * time.Hour: "24h", 7 * 24 * time.Hour: "7d", 30 * 24 * time.Hour: "30d",
}

// sorts are the columns that can be sorted by, and whether their largest come first unless asked otherwise.
var sorts = map[string]bool{"topic": false, "held": true, "ends": false, "waiting": true, "waited": true}

// ParseChoice reads what a URL asks for. What it does not know counts as not said: a page is there to be read.
func ParseChoice(q url.Values) Choice {
	c := Choice{Filter: strings.TrimSpace(q.Get("filter")), Sort: q.Get("sort"), Page: 1, Span: Spans[0]}
	if s := q.Get("state"); s == "held" || s == "free" || s == "waited" {
		c.State = s
	}
	down, known := sorts[c.Sort]
	if !known {
		c.Sort, down = "waiting", true
	}
	switch q.Get("order") {
	case "up":
		down = false
	case "down":
		down = true
	}
	c.Down = down
	if n, err := strconv.Atoi(q.Get("page")); err == nil && n > 0 {
		c.Page = n
	}
	for d, name := range spanNames {
		if name == q.Get("span") {
			c.Span = d
		}
	}
	return c
}

// query is the choice as a URL says it, with some of it changed; what is usual is left out.
func (c Choice) query(change func(*Choice)) string {
	change(&c)
	q := url.Values{}
	set := func(name, value, usual string) {
		if value != usual {
			q.Set(name, value)
		}
	}
	set("filter", c.Filter, "")
	set("state", c.State, "")
	set("sort", c.Sort, "waiting")
	if c.Down != sorts[c.Sort] {
		q.Set("order", map[bool]string{true: "down", false: "up"}[c.Down])
	}
	set("page", strconv.Itoa(c.Page), "1")
	set("span", spanNames[c.Span], spanNames[Spans[0]])
	return "?" + q.Encode()
}

// shows tells whether a topic is among those chosen.
func (c Choice) shows(r *Row) bool {
	switch c.State {
	case "held", "free":
		if string(r.State) != c.State {
			return false
		}
	case "waited":
		if r.Waiting == 0 {
			return false
		}
	}
	if c.Filter == "" || contains(r.Topic, c.Filter) {
		return true
	}
	return slices.ContainsFunc(r.Holders, func(h api.Holder) bool {
		return contains(h.Name, c.Filter) || contains(h.Host, c.Filter) || contains(h.Reason, c.Filter)
	})
}

func contains(s, part string) bool {
	return strings.Contains(strings.ToLower(s), strings.ToLower(part))
}

// order sorts topics as chosen. What has no value to sort by comes last, either way; among equals, the name decides.
func (c Choice) order(rows []Row) {
	slices.SortFunc(rows, func(a, b Row) int {
		n := c.compare(&a, &b)
		return cmp.Or(n, strings.Compare(a.Topic, b.Topic))
	})
}

func (c Choice) compare(a, b *Row) int {
	var n int
	switch c.Sort {
	case "topic":
		n = strings.Compare(a.Topic, b.Topic)
	case "waiting":
		n = cmp.Compare(a.Waiting, b.Waiting)
	default:
		x, y := c.moment(a), c.moment(b)
		switch {
		case x == nil || y == nil:
			return absentLast(x == nil, y == nil)
		case c.Sort == "ends":
			n = x.Compare(y.Time)
		default:
			n = y.Compare(x.Time) // earlier is longer
		}
	}
	if c.Down {
		return -n
	}
	return n
}

func absentLast(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// moment is the time that a column is about.
func (c Choice) moment(r *Row) *api.Time {
	switch c.Sort {
	case "held":
		return earliest(r.Holders, func(h *api.Holder) api.Time { return h.Since })
	case "ends":
		return earliest(r.Holders, func(h *api.Holder) api.Time { return h.Expires })
	}
	return r.Queued
}

func earliest(all []api.Holder, of func(*api.Holder) api.Time) *api.Time {
	var first *api.Time
	for i := range all {
		if t := of(&all[i]); first == nil || t.Before(first.Time) {
			first = &t
		}
	}
	return first
}
