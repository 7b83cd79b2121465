package dirstore

import "time"

// Hook makes every labelled file operation of the store pass f first.
func (s *Store) Hook(f func(label string) error) { s.disk.hook = f }

// Clock replaces the store's clocks.
func (s *Store) Clock(read func() (now time.Time, up time.Duration, boot string)) {
	s.clock = func() reading {
		now, up, boot := read()
		return reading{now: now, up: up, awake: readClock().awake, boot: boot}
	}
}

// ReadClock reads the machine's clocks.
func ReadClock() (now time.Time, up time.Duration, boot string) {
	r := readClock()
	return r.now, r.up, r.boot
}

// Slept makes the store see a machine that has slept for d.
func (s *Store) Slept(d time.Duration) {
	read := s.clock
	s.clock = func() reading {
		r := read()
		r.now, r.up = r.now.Add(d), r.up+d
		return r
	}
}

// GuardPatience is how long the store waits for a guard from now on.
func (s *Store) GuardPatience(d time.Duration) { s.patient = d }

// OnlyNotified leaves a waiter nothing to wake up by but notifications.
func (s *Store) OnlyNotified() { s.poll, s.beat = time.Hour, time.Hour }
