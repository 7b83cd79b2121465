package main

import (
	"os"
	"strconv"
	"strings"

	"legible.sh/mutex/internal/dirstore"
	"legible.sh/mutex/internal/remote"
)

// outer is a lease that this process runs under, as the run around it has told it.
type outer struct{ topic, fence, lease string }

// outers are the leases that this process runs under on the same lock service: to wait for one of them would be to wait for
// itself.
func (t *target) outers() (all []outer) {
	if os.Getenv("MUTEX_URL") != t.used || os.Getenv("MUTEX_TOPIC") == "" {
		return nil
	}
	list := func(variable string) []string { return strings.Split(os.Getenv(variable), ",") }
	fences, leases := list("MUTEX_FENCE"), list("MUTEX_LEASE")
	for i, topic := range list("MUTEX_TOPIC") {
		all = append(all, outer{topic, at(fences, i), at(leases, i)})
	}
	return all
}

func at(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return ""
}

// underServer is what a server can be asked about: the leases that the environment has.
func (t *target) underServer() (all []remote.Under) {
	for _, o := range t.outers() {
		if o.lease != "" {
			all = append(all, remote.Under{Topic: o.topic, Lease: o.lease})
		}
	}
	return all
}

// underDirectory is what a directory knows by itself: a fence there is never given twice.
func (t *target) underDirectory() (all []dirstore.Under) {
	for _, o := range t.outers() {
		if fence, err := strconv.ParseInt(o.fence, 10, 64); err == nil {
			all = append(all, dirstore.Under{Key: o.topic, Fence: fence})
		}
	}
	return all
}
