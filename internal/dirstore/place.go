package dirstore

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"legible.sh/mutex/internal/lease"
	"legible.sh/mutex/internal/locker"
)

const (
	// stoppedAfter is how long a waiter that is there but shows no sign of life keeps its place.
	stoppedAfter = 5 * time.Minute
	// silentAfter is the same for one that cannot be asked about: of another machine, or another container.
	silentAfter = 30 * time.Second
	// beatEvery is how often a waiter shows that it lives.
	beatEvery = 5 * time.Second
)

// waiter is a file in queue/: one who waits.
type waiter struct {
	Agent      string  `json:"agent"`
	PID        int     `json:"pid"`
	Host       string  `json:"host"`
	Reason     string  `json:"reason"`
	EnqueuedAt stamp   `json:"enqueued_at"`
	TTLSeconds float64 `json:"ttl_seconds"`
	LeaseID    string  `json:"lease_id"` // of the lease that it will become
	Process    process `json:"process"`
	BootMillis int64   `json:"boot_ms"`  // enqueued_at by the clock that counts from the boot
	Awake      int64   `json:"awake_ms"` // the same, by the one that stands while the machine sleeps; 0 if there is none
}

// place is one file of a queue.
type place struct {
	name   string // the file's
	order  uint64
	id     string
	waiter waiter
	beat   time.Time // the file's mtime
}

const placeSuffix = ".json"

func placeName(order uint64, id string) string {
	return fmt.Sprintf("%08d-%s%s", order, id, placeSuffix)
}

// parsePlaceName tells a waiter's file from what else may lie in a queue.
func parsePlaceName(name string) (p place, ok bool) {
	number, rest, ok := strings.Cut(name, "-")
	id, isJSON := strings.CutSuffix(rest, placeSuffix)
	order, err := strconv.ParseUint(number, 10, 64)
	return place{name: name, order: order, id: id}, ok && isJSON && err == nil && isHex(id, 8)
}

// readPlaces lists a queue's places in their order, without what stands in them. The names have it: numbers are padded.
func readPlaces(queue string) ([]place, error) {
	entries, err := os.ReadDir(queue) // sorted
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	places := make([]place, 0, len(entries))
	for _, e := range entries {
		if p, ok := parsePlaceName(e.Name()); ok {
			places = append(places, p)
		}
	}
	return places, nil
}

// read fills in what stands in the file; ok is false once it is gone. A file that cannot be understood is taken for
// a waiter of whom nothing is known but the heartbeat.
func (p *place) read(queue string) (ok bool) {
	content, beat, err := readRecord(filepath.Join(queue, p.name))
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	p.beat = beat
	if err != nil || json.Unmarshal(content, &p.waiter) != nil {
		p.waiter = waiter{}
	}
	return true
}

// fresh tells whether the waiter still waits.
func (p *place) fresh(at reading) bool {
	switch p.waiter.Process.life() {
	case dead:
		return false
	case halted:
		return p.silence(at) < stoppedAfter
	case alive: // one that nobody stopped was silent only while the machine slept, and will show soon that it goes on
		return p.silence(at)-p.slept(at) < stoppedAfter
	}
	return p.silence(at) < silentAfter
}

// slept is for how long the machine slept since the wait began.
func (p *place) slept(at reading) time.Duration {
	w := &p.waiter
	return at.slept(w.Process.Boot, time.Duration(w.BootMillis)*time.Millisecond, time.Duration(w.Awake)*time.Millisecond)
}

// silence is how long the waiter has not shown that it lives. The heartbeat was written by the wall clock, which may
// have been set since the wait began: of what can have been, the shortest silence is believed.
func (p *place) silence(at reading) time.Duration {
	age := at.now.Round(0).Sub(p.beat)
	if p.waiter.Process.Boot == "" || p.waiter.Process.Boot != at.boot {
		return age
	}
	waited := at.up - time.Duration(p.waiter.BootMillis)*time.Millisecond
	set := at.now.Round(0).Sub(time.Time(p.waiter.EnqueuedAt)) - waited // by how much the clock was set ahead
	if moved := age - set; age < 0 || moved >= 0 && moved < age {
		return moved
	}
	return age
}

func (p *place) who() lease.Who {
	w := &p.waiter
	return lease.Who{Name: w.Agent, Reason: w.Reason, Host: w.Host, PID: w.PID}
}

// enqueued is the event that gave the waiter its place, on the clock of at. When it gives up is its own affair.
func (p *place) enqueued(at reading) lease.Event {
	const farOff = 100 * 365 * 24 * time.Hour
	return lease.Event{
		Kind: lease.Enqueued, At: at.now, Token: handleOf(p.id), Who: p.who(), Capacity: 1,
		TTL: seconds(p.waiter.TTLSeconds), Enqueued: at.past(time.Time(p.waiter.EnqueuedAt)), Deadline: at.now.Add(farOff),
	}
}

// public is the waiter as everybody may see it.
func (p *place) public(fresh bool, position int) locker.Waiter {
	return locker.Waiter{
		Who: locker.Who(p.who()), Since: time.Time(p.waiter.EnqueuedAt), Position: position, Away: !fresh,
	}
}
