package httpserver

import (
	"legible.sh/mutex/api"
	"legible.sh/mutex/internal/lease"
)

// The border between the rules' types and the wire's.

func topicState(st *lease.Status) api.TopicState {
	if len(st.Holders) > 0 {
		return api.TopicStateHeld
	}
	return api.TopicStateFree
}

func capacityOf(st *lease.Status) *int {
	if st.Capacity == 0 {
		return nil
	}
	return &st.Capacity
}

func apiStatus(topic lease.Topic, st *lease.Status) api.TopicStatus {
	out := api.TopicStatus{
		Topic: string(topic), State: topicState(st), Capacity: capacityOf(st), Holders: apiHolders(st.Holders),
		Waiting: len(st.Waiters), Waiters: make([]api.Waiter, len(st.Waiters)),
	}
	for i, w := range st.Waiters {
		out.Waiters[i] = api.Waiter{
			Name: w.Who.Name, EnqueuedAt: api.Time{Time: w.Enqueued}, Position: w.Position, Reason: w.Who.Reason,
		}
	}
	return out
}

func apiSummary(topic lease.Topic, st *lease.Status) api.TopicSummary {
	return api.TopicSummary{
		Topic: string(topic), State: topicState(st), Capacity: capacityOf(st), Holders: apiHolders(st.Holders),
		Waiting: len(st.Waiters),
	}
}

func apiHolders(all []lease.Holder) []api.Holder {
	out := make([]api.Holder, len(all))
	for i := range all {
		h := &all[i]
		out[i] = api.Holder{
			Name: h.Who.Name, Since: api.Time{Time: h.Since}, Expires: api.Time{Time: h.Expires}, Fence: int64(h.Fence),
			Reason: h.Who.Reason, Host: h.Who.Host,
		}
		if !h.Renewed.IsZero() {
			out[i].Renewed = &api.Time{Time: h.Renewed}
		}
		if h.Who.PID != 0 {
			out[i].PID = &h.Who.PID
		}
	}
	return out
}

func names(all []api.Holder) []string {
	out := make([]string, len(all))
	for i, h := range all {
		out[i] = h.Name
	}
	return out
}
