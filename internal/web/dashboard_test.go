package web_test

import (
	"bytes"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"legible.sh/mutex/api"
	"legible.sh/mutex/internal/web"
)

func dashboard(t testing.TB, d web.Dashboard, query string) string {
	t.Helper()
	q, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	d.Now, d.Choice = noon, web.ParseChoice(q)
	return render(t, func(b *bytes.Buffer) error { return pages.Dashboard(b, d) })
}

// row is a topic; held and left are of its holder, waited of its longest waiter. Zero: there is none.
func row(topic string, held, left time.Duration, waiting int, waited time.Duration) web.Row {
	r := web.Row{TopicSummary: api.TopicSummary{Topic: topic, State: api.TopicStateFree, Waiting: waiting}}
	if held > 0 {
		renewed := at(0)
		r.State = api.TopicStateHeld
		r.Holders = []api.Holder{{Name: "by-" + topic, Host: "ci-7", Since: at(held), Renewed: &renewed, Expires: at(-left)}}
	}
	if waiting > 0 {
		q := at(waited)
		r.Queued = &q
	}
	return r
}

func some() []web.Row {
	return []web.Row{
		row("a", time.Minute, 9*time.Second, 1, 30*time.Second), row("b", time.Hour, 5*time.Second, 3, 10*time.Second),
		row("c", 0, 0, 0, 0), row("d", time.Second, time.Minute, 0, 0),
	}
}

var topicCells = regexp.MustCompile(`<th scope="row"><a class="topic" href="\.\./([^"]+)"`)

func order(page string) string {
	var names []string
	for _, m := range topicCells.FindAllStringSubmatch(page, -1) {
		names = append(names, m[1])
	}
	return strings.Join(names, " ")
}

func TestDashboardSortsAndFilters(t *testing.T) {
	for query, want := range map[string]string{
		"":                             "b a c d",
		"sort=waiting&order=up":        "c d a b",
		"sort=topic":                   "a b c d",
		"sort=topic&order=down":        "d c b a",
		"sort=held":                    "b a d c",
		"sort=held&order=up":           "d a b c",
		"sort=ends":                    "b a d c",
		"sort=waited":                  "a b c d",
		"state=held&sort=topic":        "a b d",
		"state=free":                   "c",
		"state=waited&sort=topic":      "a b",
		"filter=BY-D":                  "d",
		"filter=ci-7&sort=topic":       "a b d",
		"filter=nothing":               "",
		"sort=;&order=x&state=y&span=": "b a c d",
		"page=99":                      "b a c d",
		"page=-1":                      "b a c d",
	} {
		q := strings.ReplaceAll(query, ";", "%3B")
		if got := order(dashboard(t, web.Dashboard{Topics: some()}, q)); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

func TestDashboardLinksKeepTheChoice(t *testing.T) {
	page := dashboard(t, web.Dashboard{Topics: some(), Past: &web.Past{Since: at(time.Hour).Time, Until: noon}}, "filter=by&sort=held&span=7d")
	for _, want := range []string{
		`href="dashboard?filter=by&amp;order=up&amp;sort=held&amp;span=7d"`, // the same column, the other way
		`href="dashboard?filter=by&amp;sort=topic&amp;span=7d"`,
		`href="dashboard?filter=by&amp;sort=held"`, // the usual span is not said
		`aria-sort="descending"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s", want)
		}
	}
}

// TestDashboardLinksToTopics of any name: what stands before a colon looks like the scheme of a URL.
func TestDashboardLinksToTopics(t *testing.T) {
	const name = "deploy:staging"
	event := api.HistoryEvent{Topic: name, Event: api.HistoryEventKindReleased, Time: at(time.Minute), Held: new(60.0), Waited: new(60.0)}
	past := &web.Past{
		Since: at(time.Hour).Time, Until: noon, Holds: web.Spread{P99: time.Second}, Waits: web.Spread{P99: time.Second},
		LongestHolds: []api.HistoryEvent{event}, LongestWaits: []api.HistoryEvent{event},
	}
	page := dashboard(t, web.Dashboard{Topics: []web.Row{row(name, time.Hour, time.Second, 1, time.Hour)}, Past: past}, "")
	// In the table, as the longest wait now, among what to look at first, and twice in the past.
	if n := strings.Count(page, `href="../`+name+`"`); n != 5 {
		t.Errorf("%d links:\n%s", n, page)
	}
}

func TestDashboardPages(t *testing.T) {
	var rows []web.Row
	for i := range 250 {
		rows = append(rows, row(fmt.Sprintf("t%03d", i), 0, 0, 0, 0))
	}
	slices.Reverse(rows)
	page := dashboard(t, web.Dashboard{Topics: rows}, "sort=topic&page=3")
	if got := strings.Fields(order(page)); len(got) != 50 || got[0] != "t200" || got[49] != "t249" {
		t.Errorf("page 3 has %v", got)
	}
	says(t, page, "Previous page 3 of 3")
	saysNot(t, page, "Next")
}

func TestDashboardPointsOutWhatToLookAtFirst(t *testing.T) {
	silent := row("quiet", time.Hour, time.Second, 0, 0)
	renewed := at(59 * time.Second)
	silent.Holders[0].Renewed = &renewed
	rows := []web.Row{
		silent, row("long", time.Hour, time.Minute, 1, time.Second), row("hungry", time.Second, time.Minute, 2, 11*time.Minute),
		row("long-but-wanted-by-nobody", time.Hour, time.Minute, 0, 0), row("well", 10*time.Second, time.Minute, 1, time.Second),
	}
	past := &web.Past{Since: at(time.Hour).Time, Until: noon, Holds: web.Spread{P99: 20 * time.Minute}, Waits: web.Spread{P99: 10 * time.Minute}}
	page := dashboard(t, web.Dashboard{Topics: rows, Past: past}, "")
	says(t, page, "quiet silent by-quiet gave no sign of life for 59 s ; its lease ends in 1 s",
		"long long hold by-long has held it for 1 h , longer than 20 min",
		"hungry long wait The first of 2 has waited for 11 min , longer than 10 min",
		"waiting 4", "longest wait now 11 min hungry")
	_, worries, _ := strings.Cut(page, "Look at these first")
	worries, _, _ = strings.Cut(worries, "</section>")
	if strings.Contains(worries, "well") || strings.Contains(worries, "wanted-by-nobody") {
		t.Errorf("worries about what is well: %s", worries)
	}
	says(t, dashboard(t, web.Dashboard{Topics: some()[2:]}, ""), "Nothing. Every holder gives signs of life")
}

func TestDashboardDrawsThePast(t *testing.T) {
	past := &web.Past{
		Since: at(24 * time.Hour).Time, Until: noon,
		Contention: []web.Bucket{
			{Start: at(24 * time.Hour).Time, Grants: 1500, Queued: 500, Waited: time.Hour, Longest: 3 * time.Minute},
			{Start: at(12 * time.Hour).Time},
		},
		Waits: web.Spread{Count: 1500, P50: 0, P90: 2 * time.Second, P99: time.Minute, Max: 3 * time.Minute},
		Holds: web.Spread{Count: 1400, P50: 850 * time.Millisecond, P90: 2 * time.Minute, P99: time.Hour, Max: 26 * time.Hour},
	}
	page := dashboard(t, web.Dashboard{Past: past}, "")
	says(t, page, "1,500 grants, 500 of them after waiting; the longest wait was 3 min.", "1,500 in 12 h",
		"waits 1,500 0 s 2 s 1 min 3 min", "holds 1,400 850 ms 2 min 1 h 1 d 2 h", "with marks at 1 s, 1 min, 1 h, 1 d",
		"12:00 UTC: 1,500 granted, 500 of them after waiting")
	if !strings.Contains(page, `<rect class="queued" x="0" y="67" width="8" height="33"/>`) {
		t.Error("the bar of those who queued is not a third of the height")
	}
	says(t, dashboard(t, web.Dashboard{Past: &web.Past{Since: at(time.Hour).Time, Until: noon}}, ""), "No grants.", "None ended.", "Nobody waited.")
	says(t, dashboard(t, web.Dashboard{Note: "why not"}, ""), "why not")
}

// BenchmarkDashboard renders the dashboard of a full server.
func BenchmarkDashboard(b *testing.B) {
	var rows []web.Row
	for i := range 10_000 {
		rows = append(rows, row(fmt.Sprintf("topic-%05d", i*7919%10_000), time.Duration(i)*time.Second, time.Minute, i%3, time.Duration(i)*time.Millisecond))
	}
	for b.Loop() {
		dashboard(b, web.Dashboard{Topics: rows}, "sort=held")
	}
}
