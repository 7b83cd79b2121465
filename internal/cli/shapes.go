package cli

import (
	"time"

	"legible.sh/mutex/internal/locker"
)

// WireShapes print results as the server's answers have them, see openapi.yaml.
func WireShapes() Shapes {
	return Shapes{
		Grant: wireGrantOf, Renewal: wireRenewalOf, Released: wireReleasedOf, Check: wireCheckOf, Status: wireStatusOf,
		List: wireListOf, History: wireHistoryOf, Pruned: wirePrunedOf, Forced: wireForcedOf,
	}
}

// wireTime is a time as the wire has it: RFC 3339 in UTC with milliseconds.
type wireTime time.Time

// MarshalText gives t in the wire's form.
func (t wireTime) MarshalText() ([]byte, error) {
	return time.Time(t).UTC().AppendFormat(nil, "2006-01-02T15:04:05.000Z"), nil
}

type wireGrant struct {
	Topic    string   `json:"topic"`
	Lease    string   `json:"lease"`
	Name     string   `json:"name"`
	Fence    int64    `json:"fence"`
	Slot     int      `json:"slot"`
	TTL      float64  `json:"ttl"`
	Expires  wireTime `json:"expires"`
	Capacity int      `json:"capacity"`
	Holders  []string `json:"holders"`
	Renew    string   `json:"renew,omitempty"`
	Release  string   `json:"release,omitempty"`
}

func wireGrantOf(g locker.Grant) any {
	return wireGrant{
		g.Key, g.Token.Reveal(), g.Name, g.Fence, g.Slot, g.TTL.Seconds(), wireTime(g.Expires), g.Capacity, listed(g.Holders),
		g.RenewURL, g.ReleaseURL,
	}
}

type wireRenewal struct {
	Topic   string   `json:"topic"`
	Name    string   `json:"name"`
	Fence   int64    `json:"fence"`
	TTL     float64  `json:"ttl,omitempty"`
	Expires wireTime `json:"expires"`
}

func wireRenewalOf(r locker.Renewal) any {
	return wireRenewal{r.Key, r.Name, r.Fence, r.TTL.Seconds(), wireTime(r.Expires)}
}

func wireCheckOf(r locker.Renewal) any {
	return wireRenewal{Topic: r.Key, Name: r.Name, Fence: r.Fence, Expires: wireTime(r.Expires)}
}

type wireReleased struct {
	Released bool   `json:"released"`
	Topic    string `json:"topic"`
	Name     string `json:"name,omitempty"`
	Fence    int64  `json:"fence,omitempty"`
}

func wireReleasedOf(r locker.Released) any { return wireReleased{true, r.Key, r.Name, r.Fence} }

type wireHolder struct {
	Name    string    `json:"name"`
	Since   wireTime  `json:"since"`
	Expires wireTime  `json:"expires"`
	Renewed *wireTime `json:"renewed,omitempty"`
	Fence   int64     `json:"fence"`
	Reason  string    `json:"reason,omitempty"`
	Host    string    `json:"host,omitempty"`
	PID     int       `json:"pid,omitempty"`
}

func wireHoldersOf(all []locker.Holder) []wireHolder {
	out := make([]wireHolder, 0, len(all))
	for _, h := range all {
		w := wireHolder{Name: h.Name, Since: wireTime(h.Since), Expires: wireTime(h.Expires), Fence: h.Fence, Reason: h.Reason, Host: h.Host, PID: h.PID}
		if !h.Renewed.IsZero() {
			w.Renewed = (*wireTime)(&h.Renewed)
		}
		out = append(out, w)
	}
	return out
}

// listed makes sure that an empty list is printed as one.
func listed[T any](all []T) []T {
	if all == nil {
		return []T{}
	}
	return all
}
