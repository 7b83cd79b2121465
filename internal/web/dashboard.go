package web

import (
	"html/template"
	"io"
	"time"

	"legible.sh/mutex/api"
)

// Dashboard is what the dashboard shows.
type Dashboard struct {
	Now    time.Time
	Topics []Row // all there are, in any order
	Choice Choice
	Past   *Past  // nil: see Note
	Note   string // why there is no past to show
}

// Dashboard writes the page of all topics.
func (p *Pages) Dashboard(w io.Writer, d Dashboard) error {
	return p.dashboard.Execute(w, newDashboardView(d))
}

type dashboardView struct {
	Dashboard
	Root          string
	Held, Waiting int // topics that are held; those who wait, on all topics
	LongestWait   *rowView
	Worries       []worry
	MoreWorries   int
	Rows          []rowView // of this page
	Chosen, Pages int

	Charts               *charts
	LongHolds, LongWaits []eventView
}

// rowView is a topic in the table.
type rowView struct {
	Row
	Now    time.Time
	Oldest *holderView
}

// worry is something to look at first.
type worry struct {
	rowView
	Silent bool          // else: held for longer than nearly all others
	Usual  time.Duration // what nearly all others take
	Wait   bool          // it is the wait that is long, not the hold
}

const maxWorries = 10

func newDashboardView(d Dashboard) dashboardView {
	v := dashboardView{Dashboard: d, Root: inAdmin}
	var chosen []Row
	for i := range d.Topics {
		r := &d.Topics[i]
		v.count(r)
		if d.Choice.shows(r) {
			chosen = append(chosen, *r)
		}
	}
	d.Choice.order(chosen)
	v.Chosen = len(chosen)
	v.Pages = max((v.Chosen+perPage-1)/perPage, 1)
	v.Choice.Page = min(d.Choice.Page, v.Pages)
	from := (v.Choice.Page - 1) * perPage
	for _, r := range chosen[from:min(from+perPage, len(chosen))] {
		v.Rows = append(v.Rows, v.view(&r))
	}
	if d.Past != nil {
		v.Charts = newCharts(d.Past)
		v.LongHolds, v.LongWaits = told(d.Past.LongestHolds), told(d.Past.LongestWaits)
	}
	return v
}

// count takes a topic into the figures at the top.
func (v *dashboardView) count(r *Row) {
	if r.State == api.TopicStateHeld {
		v.Held++
	}
	v.Waiting += r.Waiting
	row := v.view(r)
	if r.Queued != nil && (v.LongestWait == nil || r.Queued.Before(v.LongestWait.Queued.Time)) {
		v.LongestWait = &row
	}
	switch w := v.worry(row); {
	case w == nil:
	case len(v.Worries) < maxWorries:
		v.Worries = append(v.Worries, *w)
	default:
		v.MoreWorries++
	}
}

// view takes a closer look at the topic's oldest holder.
func (v *dashboardView) view(r *Row) rowView {
	out := rowView{Row: *r, Now: v.Now}
	for i := range r.Holders {
		if h := look(r.Holders[i], v.Now, 0); out.Oldest == nil || h.Since.Before(out.Oldest.Since.Time) {
			out.Oldest = &h
		}
	}
	return out
}

// worry tells what is wrong with a topic, nil if nothing seems to be.
func (v *dashboardView) worry(r rowView) *worry {
	for i := range r.Holders {
		if h := look(r.Holders[i], v.Now, 0); h.Pulse == silent {
			r.Oldest = &h
			return &worry{rowView: r, Silent: true}
		}
	}
	if v.Past == nil {
		return nil
	}
	if long := max(v.Past.Waits.P99, atLeast); r.Queued != nil && v.Now.Sub(r.Queued.Time) > long {
		return &worry{rowView: r, Wait: true, Usual: long}
	}
	if long := max(v.Past.Holds.P99, atLeast); r.Oldest != nil && r.Waiting > 0 && v.Now.Sub(r.Oldest.Since.Time) > long {
		return &worry{rowView: r, Usual: long}
	}
	return nil
}

// More is how many hold it beside the oldest.
func (r rowView) More() int { return len(r.Holders) - 1 }

// Permits are how many of the permits are held.
func (r rowView) Permits() string {
	if r.Capacity == nil || *r.Capacity == 1 {
		return string(r.State)
	}
	return grouped(len(r.Holders)) + " of " + grouped(*r.Capacity)
}

// column is a column of the table and how to sort by it.
type column struct {
	Name, Label, Class string
	Sorted             string // ascending, descending or ""
	Link               template.URL
}

// Columns are those of the table.
func (v dashboardView) Columns() []column {
	all := []column{
		{Name: "topic", Label: "topic"}, {Label: "state", Class: "wide"}, {Label: "holder"},
		{Name: "held", Label: "held for", Class: "number"}, {Name: "ends", Label: "ends in", Class: "number wide"},
		{Name: "waiting", Label: "waiting", Class: "number"}, {Name: "waited", Label: "longest wait", Class: "number wide"},
	}
	for i := range all {
		c := &all[i]
		if c.Name == "" {
			continue
		}
		down := sorts[c.Name]
		if c.Name == v.Choice.Sort {
			c.Sorted = map[bool]string{true: "descending", false: "ascending"}[v.Choice.Down]
			down = !v.Choice.Down
		}
		c.Link = v.link(func(o *Choice) { o.Sort, o.Down, o.Page = c.Name, down, 1 })
	}
	return all
}

// link is this dashboard with another choice. The query is encoded by net/url.
func (v dashboardView) link(change func(*Choice)) template.URL {
	return template.URL("dashboard" + v.Choice.query(change))
}

// option is one of several to choose from.
type option struct {
	Label, Value string
	Chosen       bool
	Link         template.URL
}

// SpanOptions are the spans of time, shortest first.
func (v dashboardView) SpanOptions() []option {
	var all []option
	for _, d := range []time.Duration{Spans[1], Spans[0], Spans[2], Spans[3]} {
		all = append(all, option{
			Label: spanNames[d], Value: spanNames[d], Chosen: d == v.Choice.Span,
			Link: v.link(func(o *Choice) { o.Span = d }),
		})
	}
	return all
}

// StateOptions are the states to filter by.
func (v dashboardView) StateOptions() []option {
	all := []option{{Label: "any state"}, {Label: "held", Value: "held"}, {Label: "waited for", Value: "waited"}, {Label: "free", Value: "free"}}
	for i := range all {
		all[i].Chosen = all[i].Value == v.Choice.State
	}
	return all
}

// Previous and Next are the pages beside this one, "" where there is none.
func (v dashboardView) Previous() template.URL {
	if v.Choice.Page <= 1 {
		return ""
	}
	return v.link(func(o *Choice) { o.Page-- })
}

// Next is the page after this one.
func (v dashboardView) Next() template.URL {
	if v.Choice.Page >= v.Pages {
		return ""
	}
	return v.link(func(o *Choice) { o.Page++ })
}

// Order is what the form sends along so that filtering keeps the order; "" where that is the usual one.
func (v dashboardView) Order() string {
	if v.Choice.Down == sorts[v.Choice.Sort] {
		return ""
	}
	return map[bool]string{true: "down", false: "up"}[v.Choice.Down]
}

// SpanName is the span of time as the URL says it.
func (v dashboardView) SpanName() string { return spanNames[v.Choice.Span] }

// When is a time of the past: to the second on the day of the page, else to the minute.
func (v dashboardView) When(t api.Time) string {
	if day(t) != day(api.Time{Time: v.Now}) {
		return t.UTC().Format("Jan 2 15:04")
	}
	return clock(t)
}
