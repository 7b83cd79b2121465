package app

import (
	"path/filepath"
	"runtime/debug"

	"legible.sh/mutex/internal/history"
	"legible.sh/mutex/internal/journal"
	"legible.sh/mutex/internal/lease"
	"legible.sh/mutex/registry"
)

// openStorage opens the journal and the history, and builds the registry over what the journal knows.
func (s *Server) openStorage() error {
	c := &s.options.Config
	options := registry.Options{
		MaxTopics: c.MaxTopics, TopicIdle: c.TopicIdle.D(), Keep: c.KeepPlace.D(), Observe: s.observe,
		Journal: journal.Memory{}, Release: debug.FreeOSMemory,
	}
	var boot *journal.Boot
	if c.DataDir != "" {
		var err error
		s.journal, boot, err = journal.Open(c.DataDir, journal.Options{
			Keep: c.KeepPlace.D(), Log: s.log, Fsync: journal.Fsync(c.Fsync), Interval: c.FsyncInterval.D(),
			OnCommit: func(commit journal.Commit) {
				s.metrics.Commit(commit.Records, commit.Bytes, commit.Write+commit.Sync)
			},
		})
		if err != nil {
			return err
		}
		options.Journal, options.Floor, options.Topics = s.journal, boot.Floor, boot.Topics
	}
	s.openHistory()
	if boot != nil {
		s.recordEnded(boot.Ended)
	}
	s.registry = registry.New(options)
	return nil
}

// openHistory puts the history beside the journal, or into memory.
func (s *Server) openHistory() {
	c := &s.options.Config
	switch {
	case !c.History:
	case c.DataDir != "":
		s.history = history.Open(history.Options{
			Path: filepath.Join(c.DataDir, "history.db"), MaxAge: c.HistoryAge.D(), MaxBytes: c.HistorySize, Log: s.log,
		})
	default:
		s.history = history.NewMemory(history.MemoryOptions{
			MaxAge: c.HistoryAge.D(), MaxBytes: min(c.HistorySize, history.DefaultMemoryBytes),
		})
	}
}

// recordEnded tells the onlookers of leases that ended while no server ran.
func (s *Server) recordEnded(ended []journal.Ended) {
	for i := range ended {
		s.observe(ended[i].Topic, []lease.Event{ended[i].Event})
	}
}

// observe hands events to those who only look on, and never make anybody wait.
func (s *Server) observe(topic lease.Topic, events []lease.Event) {
	s.metrics.Observe(topic, events)
	if s.history != nil {
		s.history.Observe(topic, events)
	}
}

// figures adds what is read off the parts when somebody asks.
func (s *Server) figures() {
	load := func(pick func(topics, held, waiting int) int) func() float64 {
		return func() float64 { return float64(pick(s.registry.Load())) }
	}
	m := s.metrics
	m.Gauge("mutex_topics", "Topics that live.", load(func(topics, _, _ int) int { return topics }))
	m.Gauge("mutex_holders", "Leases that live.", load(func(_, held, _ int) int { return held }))
	m.Gauge("mutex_waiters", "Places in queues, those kept for clients that are away included.", load(func(_, _, waiting int) int { return waiting }))
	m.Gauge("mutex_ready", "1 while leases can be granted, else 0.", func() float64 {
		if s.ready() != nil {
			return 0
		}
		return 1
	})
	if s.history != nil {
		m.Counter("mutex_history_dropped_total", "Events that the history lost.", func() float64 { return float64(s.history.Stats().Dropped) })
		m.Counter("mutex_history_written_total", "Events that the history has written.", func() float64 { return float64(s.history.Stats().Written) })
		m.Gauge("mutex_history_queued", "Events that wait to be written to the history.", func() float64 { return float64(s.history.Stats().Queued) })
	}
	if s.journal != nil {
		m.Counter("mutex_journal_failures_total", "Commits of the journal that failed.", func() float64 { return float64(s.journal.Stats().Failures) })
		m.Counter("mutex_journal_compactions_total", "Times that the journal was compacted.", func() float64 { return float64(s.journal.Stats().Compactions) })
		m.Gauge("mutex_journal_size_bytes", "Size of the journal.", func() float64 { return float64(s.journal.Stats().Size) })
	}
}
