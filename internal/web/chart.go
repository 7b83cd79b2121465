package web

import (
	"fmt"
	"math"
	"time"
)

// charts are drawn here, as figures of SVG elements; the templates only place them. A chart is as wide as its buckets
// times barWidth and chartHeight high, and is stretched to the room there is.
type charts struct {
	Width, Height int
	Grants        []bar
	Waits         []bar
	MostGrants    int           // in one bucket: the top of the first chart
	LongestWait   time.Duration // the top of the second
	Sum           Bucket
	From, Middle  string
	Part          time.Duration // what one bar stands for
	Rows          []strip
	Marks         []int
	MarkNames     []string
}

const (
	barWidth    = 10
	chartHeight = 100
	stripWidth  = 1000
)

// bar is one bucket of a chart: Low from the ground up, High on top of it.
type bar struct {
	X, Low, High int
	Title        string
}

// LowY and HighY are the upper edges, counted from the top as SVG does.
func (b bar) LowY() int { return chartHeight - b.Low }

// HighY is the upper edge of the whole bar.
func (b bar) HighY() int { return chartHeight - b.Low - b.High }

func newCharts(p *Past) *charts {
	c := &charts{Width: len(p.Contention) * barWidth, Height: chartHeight, Sum: p.sums(), LongestWait: p.sums().Longest}
	for _, b := range p.Contention {
		c.MostGrants = max(c.MostGrants, b.Grants)
	}
	if n := len(p.Contention); n > 0 {
		c.Part = p.Until.Sub(p.Since) / time.Duration(n)
	}
	layout := time.TimeOnly[:len("15:04")]
	if p.Until.Sub(p.Since) > 25*time.Hour { // a day, and the moment it took
		layout = "Jan 2"
	}
	c.From = p.Since.UTC().Format(layout)
	c.Middle = p.Since.Add(p.Until.Sub(p.Since) / 2).UTC().Format(layout)
	for i, b := range p.Contention {
		c.add(i, b, layout)
	}
	c.spreads(p)
	return c
}

// add draws one bucket in both charts.
func (c *charts) add(i int, b Bucket, layout string) {
	if layout == "Jan 2" {
		layout += " 15:04"
	}
	at := b.Start.UTC().Format(layout) + " UTC: "
	if b.Grants > 0 {
		c.Grants = append(c.Grants, bar{
			X: i * barWidth, Low: part(b.Queued, c.MostGrants), High: part(b.Grants-b.Queued, c.MostGrants),
			Title: fmt.Sprintf("%s%s granted, %s of them after waiting", at, grouped(b.Grants), grouped(b.Queued)),
		})
	}
	if b.Longest > 0 {
		c.Waits = append(c.Waits, bar{
			X: i * barWidth, Low: part(int(b.Longest), int(c.LongestWait)),
			Title: fmt.Sprintf("%slongest wait %s, all together %s", at, span(b.Longest), span(b.Waited)),
		})
	}
}

// part is the height of n where most is the whole height. What is not nothing can be seen.
func part(n, most int) int {
	if n <= 0 || most <= 0 {
		return 0
	}
	return max(int(math.Round(float64(n)*chartHeight/float64(most))), 1)
}

// strip is a distribution on a logarithmic scale of time.
type strip struct {
	Name string
	Spread
	At50, At90, At99, AtMax int
}

// From50 and the like are the lengths of the parts of a strip.
func (s strip) From50() int { return max(s.At90-s.At50, 2) }

// From90 is the part of one in ten.
func (s strip) From90() int { return max(s.At99-s.At90, 2) }

// From99 is the part of one in a hundred.
func (s strip) From99() int { return max(s.AtMax-s.At99, 2) }

func (c *charts) spreads(p *Past) {
	longest := max(p.Waits.Max, p.Holds.Max, time.Second)
	at := func(d time.Duration) int {
		if d <= time.Millisecond {
			return 0
		}
		return int(math.Round(math.Log(float64(d)/1e6) / math.Log(float64(longest)/1e6) * (stripWidth - 2)))
	}
	for _, row := range []struct {
		name string
		s    Spread
	}{{"waits", p.Waits}, {"holds", p.Holds}} {
		s := row.s
		c.Rows = append(c.Rows, strip{Name: row.name, Spread: s, At50: at(s.P50), At90: at(s.P90), At99: at(s.P99), AtMax: at(s.Max)})
	}
	for _, m := range []struct {
		d    time.Duration
		name string
	}{{time.Second, "1 s"}, {time.Minute, "1 min"}, {time.Hour, "1 h"}, {24 * time.Hour, "1 d"}} {
		if m.d < longest {
			c.Marks = append(c.Marks, at(m.d))
			c.MarkNames = append(c.MarkNames, m.name)
		}
	}
}

// Text tells what the charts show to whoever does not see them.
func (c *charts) Text() string {
	if c.Sum.Grants == 0 {
		return "No grants."
	}
	return fmt.Sprintf("%s grants, %s of them after waiting; the longest wait was %s.",
		grouped(c.Sum.Grants), grouped(c.Sum.Queued), span(c.Sum.Longest))
}
