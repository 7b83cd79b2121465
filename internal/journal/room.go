package journal

import (
	"errors"

	"legible.sh/mutex/internal/journal/disk"
)

const (
	// roomChunk is how much more than needed is set aside at a time.
	roomChunk = 1 << 20
	// roomMargin is how much earlier grants are suspended than room would be short, so that those which are on
	// their way then still fit.
	roomMargin = 64 << 10
)

// need is how much room must be set aside for the leases that live and the places that are kept.
func (c *committer) need() int64 { return min(c.room, c.options.ReserveMax) }

// margin is how much more than what is needed there must be. Once grants are suspended, it takes more to resume.
func (c *committer) margin() int64 {
	if c.status.suspended.Load() {
		return 4 * roomMargin
	}
	return roomMargin
}

// scarce tells whether no grant should be made now.
func (c *committer) scarce() bool { return c.reserved-c.size < c.need()+c.margin() }

// mustSuspend tells whether grants are suspended: no more room could be had, and what there is may be needed. They stay
// so until room was looked for again, whatever is released meanwhile: a lease with a short ttl has more room set aside
// than any margin, so on a full disk each grant of one would suspend, and each release resume, and wake all topics. A grant
// that was refused suspends too: it was made in one turn with a release, which can go on only once nobody is granted.
func (c *committer) mustSuspend() bool {
	return c.shortage && (c.status.suspended.Load() || c.refused || c.scarce())
}

// admit keeps grants and new places out of a batch if renewing, releasing and leaving them would not have the room set aside.
// Everything else goes on: that is what the room is for.
func (c *committer) admit(batch []*request) (admitted, refused []*request) {
	var granted, bytes int64
	for _, r := range batch {
		granted += r.room
		bytes += int64(len(r.lines))
	}
	if granted == 0 || c.hasRoom(bytes, granted) {
		return batch, nil
	}
	for _, r := range batch {
		if r.room > 0 {
			refused = append(refused, r)
		} else {
			admitted = append(admitted, r)
		}
	}
	return admitted, refused
}

func (c *committer) hasRoom(bytes, granted int64) bool {
	need := bytes + min(c.room+granted, c.options.ReserveMax)
	if c.reserved-c.size < need+roomMargin {
		c.setAside(need + roomMargin)
	}
	return c.reserved-c.size >= need
}

// makeRoom sets more aside before it is needed. It comes after the answers, which need not wait for it.
func (c *committer) makeRoom() {
	if c.fault == nil && c.scarce() {
		c.setAside(c.need() + c.margin())
	}
}

// setAside asks for so many bytes behind the last record and some more; for just as many when that is too much. A full
// disk is not asked again before the retry.
func (c *committer) setAside(bytes int64) {
	if c.shortage {
		c.retry.in(roomRetry)
		return
	}
	room := bytes + bytes/4 + roomChunk
	err := c.allocate(c.file, disk.AppendAllocate, c.size, room)
	if err != nil {
		room = bytes
		err = c.allocate(c.file, disk.AppendAllocate, c.size, room)
	}
	if err == nil {
		c.reserved = max(c.reserved, c.size+room)
		c.warned = false
		return
	}
	c.shortage = true
	if !c.warned { // a line a second would fill the disk that the log may share with us
		c.warned = true
		c.log.Warn("no more room can be set aside; grants are suspended once the leases that live may need what there is",
			"error", err)
	}
	c.retry.in(roomRetry)
}

// allocate sets room aside behind a file's end; what is set aside already costs nothing. Where the file system cannot
// promise it, the free space is the best guess.
func (c *committer) allocate(file disk.File, op disk.Op, end, room int64) error {
	err := file.Allocate(op, end, room)
	if c.unpromised = errors.Is(err, disk.ErrCannotAllocate); c.unpromised {
		var free int64
		if free, err = c.fs.Free(disk.FreeSpace, c.dir); err == nil && free < room {
			err = errNoRoom
		}
	}
	return err
}
