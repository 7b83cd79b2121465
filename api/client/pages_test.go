package client_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"legible.sh/mutex/api/client"
)

// TestListsAreReadToTheirEnd, page by page, and no further than asked for.
func TestListsAreReadToTheirEnd(t *testing.T) {
	topics := newFake(func(r *http.Request, _ int) (*http.Response, error) {
		if r.URL.Query().Get("after") == "" {
			return reply(200, `{"topics":[{"topic":"a"},{"topic":"b"}],"total":3,"next":{"method":"GET","path":"/-/topics?after=b"}}`)
		}
		return reply(200, `{"topics":[{"topic":"c"}],"total":3}`)
	})
	c := topics.client(t, client.WithToken("user"), client.WithAdminToken("admin"))
	all, err := c.Topics(t.Context(), client.TopicsQuery{Prefix: "x", State: "held"})
	if err != nil || len(all) != 3 || all[2].Topic != "c" {
		t.Error(all, err)
	}
	for _, r := range topics.requests() {
		if q := r.URL.Query(); q.Get("prefix") != "x" || q.Get("state") != "held" || r.Header.Get("Authorization") != "Bearer admin" {
			t.Error(r.URL, r.Header)
		}
	}

	history := newFake(func(r *http.Request, nth int) (*http.Response, error) {
		return reply(200, fmt.Sprintf(`{"events":[{"id":%d,"event":"released"}],"next":{"method":"GET","path":"/t/history?before=%d"}}`, 9-nth, 9-nth))
	})
	events, err := history.client(t).History(t.Context(), "t", client.HistoryQuery{Limit: 3})
	if err != nil || len(events) != 3 || events[2].ID != 7 {
		t.Error(events, err)
	}
	want := []string{
		"GET /t/history?limit=3&renewals=false", "GET /t/history?before=9&limit=2&renewals=false", "GET /t/history?before=8&limit=1&renewals=false",
	}
	if got := strings.Split(strings.ReplaceAll(history.lines(), "0 ", ""), "\n"); !slices.Equal(got, want) {
		t.Errorf("asked %q", got)
	}
}

// TestAForcedReleaseIsNotRepeatedBlindly: a second try could hit whoever came next.
func TestAForcedReleaseIsNotRepeatedBlindly(t *testing.T) {
	for fence, tries := range map[int64]int{0: 1, 42: 3} {
		f := newFake(func(_ *http.Request, nth int) (*http.Response, error) {
			if nth < 2 {
				return nil, errRefused
			}
			return reply(200, `{"topic":"t","dry_run":false,"released":[],"holders":[],"waiting":0}`)
		})
		_, err := f.client(t).ForceRelease(t.Context(), "t", client.Force{Fence: fence})
		if got := len(f.requests()); got != tries || (err == nil) != (fence != 0) {
			t.Errorf("fence %d: %d tries, %v", fence, got, err)
		}
	}
}
