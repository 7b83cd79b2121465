package httpserver

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"legible.sh/mutex/api"
	"legible.sh/mutex/internal/lease"
	"legible.sh/mutex/internal/policy"
	"legible.sh/mutex/registry"
)

// ListTopics lists the live topics.
func (s *Server) ListTopics(w http.ResponseWriter, r *http.Request, p api.ListTopicsParams) {
	var bad problems
	bad.list(p)
	if err := s.adminWith(r, bad); err != nil {
		s.fail(w, r, err)
		return
	}
	prefix, after, limit := deref(p.Prefix, ""), deref(p.After, ""), deref(p.Limit, maxListed)
	all, err := s.options.Registry.List(r.Context(), prefix)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	all, total := chosen(all, p.State)
	page := all[firstAfter(all, after):]
	var next *api.NextRequest
	if len(page) > limit {
		page = page[:limit]
		next = nextTopics(r, string(page[limit-1].Topic))
	}
	_ = send(w, http.StatusOK, appendTopics(make([]byte, 0, 64+320*len(page)), page, total, next)) // whoever hung up asks again
}

// chosen keeps the topics in a state, and says how many.
func chosen(all []registry.Listed, state *api.TopicState) ([]registry.Listed, int) {
	if state != nil {
		all = slices.DeleteFunc(all, func(l registry.Listed) bool { return topicState(&l.Status) != *state })
	}
	return all, len(all)
}

// firstAfter is the index of the first topic whose name sorts after the given one.
func firstAfter(all []registry.Listed, after string) int {
	i, found := slices.BinarySearchFunc(all, lease.Topic(after), func(l registry.Listed, t lease.Topic) int {
		return cmp.Compare(l.Topic, t)
	})
	if found {
		i++
	}
	return i
}

// appendTopics appends a list of topics. There may be ten thousand, so it is appended by hand, too.
func appendTopics(b []byte, page []registry.Listed, total int, next *api.NextRequest) []byte {
	o := newObject(b)
	o.key("topics")
	o.b = append(o.b, '[')
	for i := range page {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.b = append(o.b, "\n    {"...)
		o.b = appendSummary(o.b, &page[i])
		o.b = append(o.b, "\n    }"...)
	}
	if len(page) > 0 {
		o.b = append(o.b, "\n  "...)
	}
	o.b = append(o.b, ']')
	o.int("total", int64(total))
	if next != nil {
		o.next(next)
	}
	return o.end()
}

func appendSummary(b []byte, l *registry.Listed) []byte {
	o := object{b: b, first: true, indent: "    "}
	o.string("topic", string(l.Topic))
	o.string("state", string(topicState(&l.Status)))
	o.capacity(&l.Status)
	o.holders(l.Status.Holders)
	o.int("waiting", int64(len(l.Status.Waiters)))
	return o.b
}

func nextTopics(r *http.Request, after string) *api.NextRequest {
	q := r.URL.Query()
	q.Set("after", after)
	return &api.NextRequest{Method: http.MethodGet, Path: "/-/topics?" + q.Encode()}
}

// adminWith asks for the admin token first: who has none learns nothing about parameters either.
func (s *Server) adminWith(r *http.Request, bad problems) error {
	if err := s.admin(r); err != nil {
		return err
	}
	return bad.err()
}

// ForceRelease ends leases in the name of the admin, or of whoever a policy lets do that.
func (s *Server) ForceRelease(w http.ResponseWriter, r *http.Request, topic api.Topic, p api.ForceReleaseParams) {
	name, _, err := s.enter(r, topic, policy.Force)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	var bad problems
	fence := bad.fence(p.Fence)
	by := bad.text("X-Name", p.XName, "name", p.Name, lease.MaxNameLength)
	if reason := bad.text("X-Reason", p.XReason, "reason", p.Reason, lease.MaxReasonLength); reason != "" {
		by = strings.TrimSpace(by + " (" + reason + ")") // who did it may be left out
	}
	if err := bad.err(); err != nil {
		s.fail(w, r, err)
		return
	}
	released, err := s.force(r, name, fence, by, p.DryRun != nil && *p.DryRun)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	after, err := s.look(r, name)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	st := apiStatus(name, &after.Status)
	s.write(w, http.StatusOK, api.ForceRelease{
		Topic: string(name), DryRun: p.DryRun != nil && *p.DryRun, Released: apiHolders(released),
		Holders: names(st.Holders), Waiting: st.Waiting,
	})
}

// force ends the leases, or only says which it would end.
func (s *Server) force(r *http.Request, topic lease.Topic, fence lease.Fence, by string, dry bool) ([]lease.Holder, error) {
	if !dry {
		c := lease.Command{Op: lease.Force, Fence: fence, By: by}
		answer, err := s.options.Registry.Do(r.Context(), topic, &c)
		if err != nil {
			return nil, err
		}
		return answer.Forced, nil
	}
	answer, err := s.look(r, topic)
	if err != nil {
		return nil, err
	}
	var hit []lease.Holder
	for _, h := range answer.Status.Holders {
		if fence == 0 || h.Fence == fence {
			hit = append(hit, h)
		}
	}
	return hit, nil
}

// Prune retires the idle topics.
func (s *Server) Prune(w http.ResponseWriter, r *http.Request) {
	if err := s.admin(r); err != nil {
		s.fail(w, r, err)
		return
	}
	n := s.options.Registry.Prune()
	s.write(w, http.StatusOK, api.PruneResult{Pruned: n, Remaining: s.options.Registry.Len()})
}

// nextEvents is the request for the page of events before this one.
func nextEvents(r *http.Request, before int64) *api.NextRequest {
	q := r.URL.Query()
	q.Set("before", strconv.FormatInt(before, 10))
	return &api.NextRequest{Method: http.MethodGet, Path: (&url.URL{Path: r.URL.Path, RawQuery: q.Encode()}).String()}
}

func deref[T any](p *T, absent T) T {
	if p == nil {
		return absent
	}
	return *p
}
