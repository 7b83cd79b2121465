package httpserver

import (
	"net/http"
	"net/url"
	"strconv"

	"legible.sh/mutex/api"
	"legible.sh/mutex/internal/lease"
	"legible.sh/mutex/internal/policy"
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
	out := api.TopicList{Topics: []api.TopicSummary{}}
	for i := range all {
		st := &all[i].Status
		if p.State != nil && *p.State != topicState(st) {
			continue
		}
		out.Total++
		if string(all[i].Topic) <= after {
			continue
		}
		if len(out.Topics) == limit {
			if out.Next == nil {
				out.Next = nextTopics(r, out.Topics[limit-1].Topic)
			}
			continue
		}
		out.Topics = append(out.Topics, apiSummary(all[i].Topic, st))
	}
	s.write(w, http.StatusOK, out)
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
		by += " (" + reason + ")"
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
