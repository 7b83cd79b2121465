package dirstore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"legible.sh/mutex/internal/lease"
	"legible.sh/mutex/internal/locker"
)

const (
	guardFile   = "guard"
	holderFile  = "holder.json"
	queueDir    = "queue"
	roomFile    = "room"
	fencePrefix = "fence-"
	// The temporary names of the files that are replaced; only who holds the guard uses them.
	holderTemp = "holder.json.tmp"
	placeTemp  = "place.tmp"
	// brokenFile is what was found in holder.json's place, moved aside when it was mended.
	brokenFile = "holder.json.broken"
)

// contents is what lies in a key's directory.
type contents struct {
	counted   lease.Fence // what the counter says
	fenceName string      // the counter's file; "" if there is none
	holder    *holder     // nil if there is none, or it is broken
	places    []place
	broken    *BrokenError
}

// read looks at a key without any lock. It sees each file whole, but they may be of different moments; who holds the
// guard sees them as they are.
func read(dir string) (c contents) {
	if c.readFence(dir); c.broken == nil {
		c.holder, c.broken = readHolder(dir)
	}
	if places, err := readPlaces(filepath.Join(dir, queueDir)); err == nil {
		c.places = places
	} else if c.broken == nil {
		c.broken = &BrokenError{filepath.Join(dir, queueDir), locker.Unreadable, reason(err)}
	}
	return c
}

func (c *contents) readFence(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.broken = &BrokenError{dir, locker.Unreadable, reason(err)}
	}
	for _, e := range entries {
		number, is := strings.CutPrefix(e.Name(), fencePrefix)
		n, err := strconv.ParseUint(number, 10, 64)
		if fence := lease.Fence(n); is && err == nil && fence > c.counted && fence <= lease.MaxFence {
			c.counted, c.fenceName = fence, e.Name()
		}
	}
}

// fence is the highest ever granted, so far as is known.
func (c *contents) fence() lease.Fence {
	if c.holder == nil {
		return c.counted
	}
	return max(c.counted, c.holder.Fence)
}

// readHolder reads holder.json alone.
func readHolder(dir string) (*holder, *BrokenError) {
	path := filepath.Join(dir, holderFile)
	content, _, err := readRecord(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, &BrokenError{path, locker.Unreadable, reason(err)}
	}
	h, err := parseHolder(content)
	if err != nil {
		return nil, &BrokenError{path, locker.Corrupt, err}
	}
	return h, nil
}

// readWaiters reads what stands in each place, and drops those that are gone by now.
func (c *contents) readWaiters(dir string) {
	kept := c.places[:0]
	for _, p := range c.places {
		if p.read(filepath.Join(dir, queueDir)) {
			kept = append(kept, p)
		}
	}
	c.places = kept
}

// state is how the key stands.
func (c *contents) state(at reading) locker.State {
	switch {
	case c.broken != nil:
		return c.broken.State
	case c.holder == nil:
		return locker.Free
	case c.holder.left(at) <= 0:
		return locker.Expired
	}
	return locker.Held
}

// live is the holder whose lease has not ended, or nil.
func (c *contents) live(at reading) *holder {
	if c.state(at) != locker.Held {
		return nil
	}
	return c.holder
}

// reason leaves out the path that an error repeats.
func reason(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
