package bench

import (
	"context"
	"slices"
)

// Scenario says what can be measured.
type Scenario struct{ Name, About string }

// scenario is how it is measured.
type scenario struct {
	Scenario
	// measure takes one round's readings of one side.
	measure func(ctx context.Context, m *measurement) (readings, error)
	// floor: a bare net/http server can do the same.
	floor bool
	// needsProcess: it cannot be told from outside.
	needsProcess bool
	// flags are for a server that is started for it.
	flags []string
	// onePass: the number of connections is not what it varies.
	onePass bool
}

// scenarios in the order in which they are listed.
func scenarios() []scenario {
	return []scenario{
		{Scenario: Scenario{"cycles", "acquire and release, one topic a connection"}, measure: cycles, floor: true},
		{Scenario: Scenario{"renew", "renewals of one lease a connection"}, measure: renew, floor: true},
		{Scenario: Scenario{"status", "readings of one held topic a connection"}, measure: status, floor: true},
		{Scenario: Scenario{"handoff", "one topic handed from waiter to waiter, exclusion, fence and order checked"}, measure: handoff},
		{Scenario: Scenario{"park", "memory and idle CPU for each parked waiter"}, measure: park, floor: true, needsProcess: true, onePass: true},
		{Scenario: Scenario{"watchers", "events to many watchers: none lost, how late"}, measure: watchers, onePass: true},
		{Scenario: Scenario{"topics", "memory for each live topic, and after many names were used"}, measure: topics, flags: []string{"--topic-idle", topicIdle.String()}, floor: true, needsProcess: true, onePass: true},
		{Scenario: Scenario{"disk", "cycles beside the disk's own append and sync"}, measure: onDisk, floor: true},
	}
}

// Scenarios lists what can be measured.
func Scenarios() []Scenario {
	var list []Scenario
	for _, s := range scenarios() {
		list = append(list, s.Scenario)
	}
	return list
}

func names() []string {
	var list []string
	for _, s := range scenarios() {
		list = append(list, s.Name)
	}
	return list
}

func find(name string) (scenario, bool) {
	all := scenarios()
	i := slices.IndexFunc(all, func(s scenario) bool { return s.Name == name })
	if i < 0 {
		return scenario{}, false
	}
	return all[i], true
}
