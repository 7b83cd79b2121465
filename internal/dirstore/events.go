package dirstore

import (
	"errors"
	"path/filepath"

	"legible.sh/mutex/internal/history"
	"legible.sh/mutex/internal/lease"
)

// carryOut makes the files say what happened, one event after the other. Every step leaves the key in a state that
// the next one who comes can handle.
func (t *turn) carryOut(events []lease.Event) error {
	for i := range events {
		if err := t.carryOutOne(&events[i]); err != nil {
			return err
		}
	}
	if t.lapsed != nil && t.sweeps {
		return t.clear(t.lapsed)
	}
	return nil
}

func (t *turn) carryOutOne(e *lease.Event) error {
	switch e.Kind {
	case lease.Granted:
		return t.grant(e)
	case lease.Renewed:
		return t.renew(e)
	case lease.Released, lease.Forced:
		return t.clear(e)
	case lease.Expired:
		t.lapsed = e // the files go on to say so, until somebody takes over or clears it away
	case lease.Enqueued:
		return t.enqueue(e)
	case lease.Left:
		return t.leave(e)
	}
	return nil
}

// grant writes the holder, if it is the one who makes this change. Anybody else is woken, and takes the key itself.
func (t *turn) grant(e *lease.Event) error {
	if t.claim == nil || t.claim.handle != e.Token {
		if p := t.place(e.Token); p != nil {
			t.wakes = append(t.wakes, t.placePath(p.name))
		}
		return nil
	}
	h := t.claim.holder(e, t.at)
	if err := t.replaceHolder("grant", h, e.Fence); err != nil {
		return err
	}
	if t.lapsed != nil { // its end comes before the next one's beginning
		t.record(t.lapsed)
		t.lapsed = nil
	}
	t.record(e)
	t.claim.granted = h
	t.store.remember(h.LeaseID, h.Fence)
	if t.claim.place != "" {
		_ = t.store.disk.remove("grant.place", t.placePath(t.claim.place)) // whoever comes next drops it: its process will be gone
		t.claim.place = ""
	}
	return nil
}

func (t *turn) renew(e *lease.Event) error {
	h := *t.found.holder
	h.ends(t.at, e.Expires, e.At.Round(0), e.TTL)
	if err := t.replaceHolder("renew", &h, 0); err != nil {
		return err
	}
	t.found.holder = &h
	t.record(e)
	return nil
}

// clear takes the holder's file away.
func (t *turn) clear(e *lease.Event) error {
	// The highest fence must not be known from the holder's file alone when that goes.
	if err := t.raiseFence(e.Fence); err != nil {
		return err
	}
	if err := t.store.disk.remove("clear.holder", filepath.Join(t.dir, holderFile)); err != nil {
		return err
	}
	t.lapsed = nil
	t.record(e)
	return t.store.disk.sync("clear", t.dir)
}

func (t *turn) enqueue(e *lease.Event) error {
	order := uint64(1)
	if n := len(t.found.places); n > 0 {
		order = t.found.places[n-1].order + 1
	}
	name := placeName(order, idOf(e.Token))
	temp, path := filepath.Join(t.dir, placeTemp), t.placePath(name)
	content := encode(t.claim.waiter(e, t.at))
	err := t.store.disk.stage("enqueue", temp, content, false)
	if err == nil {
		err = t.store.disk.rename("enqueue", temp, path)
	}
	if err != nil {
		return unchangeable(t.dir, err)
	}
	t.claim.place = name
	return nil
}

// leave takes a waiter's file away. Who was behind it may be the first now, and should know.
func (t *turn) leave(e *lease.Event) error {
	p := t.place(e.Token)
	if p == nil {
		return nil
	}
	if err := t.store.disk.remove("leave", t.placePath(p.name)); err != nil {
		return unchangeable(t.dir, err)
	}
	t.gone++
	if t.claim != nil && t.claim.handle == e.Token {
		t.claim.place = ""
	}
	for i := range t.found.places {
		if t.found.places[i].order > p.order {
			t.wakes = append(t.wakes, t.placePath(t.found.places[i].name))
			break
		}
	}
	return nil
}

func (t *turn) place(handle lease.Token) *place {
	for i := range t.found.places {
		if p := &t.found.places[i]; handleOf(p.id) == handle {
			return p
		}
	}
	return nil
}

func (t *turn) placePath(name string) string { return filepath.Join(t.dir, queueDir, name) }

// record notes an event for the history.
func (t *turn) record(e *lease.Event) {
	h, ok := history.FromLease(t.key, e)
	if !ok {
		return
	}
	h.LeaseID = idOf(e.Token)
	if t.reclaims && h.Kind == history.Acquired {
		h.Kind = history.Reclaimed
	}
	t.records = append(t.records, h)
}

// replaceHolder puts a new holder.json in the old one's place. With a fence, it is a grant, and the fence is safe first.
// If it fails, the old one stands, or none.
func (t *turn) replaceHolder(label string, h *holder, fence lease.Fence) error {
	d := t.store.disk
	temp, path := filepath.Join(t.dir, holderTemp), filepath.Join(t.dir, holderFile)
	err := t.stageHolder(label, temp, encode(h))
	if err != nil {
		return unchangeable(t.dir, err)
	}
	if err = t.raiseFence(fence); err == nil {
		err = d.rename(label, temp, path)
	}
	if err != nil {
		return unchangeable(t.dir, errors.Join(err, d.remove(label+".temp", temp)))
	}
	if err = d.sync(label, t.dir); err != nil && fence > 0 {
		// Nobody will know that it was granted.
		return unchangeable(t.dir, errors.Join(err, d.remove(label+".undo", path)))
	}
	return err
}

// stageHolder writes the file that is to replace holder.json. A lease that lives can be kept alive on a full disk:
// the room that was set aside for it is given up, and set aside anew when there is some again.
func (t *turn) stageHolder(label, temp string, content []byte) error {
	d, room := t.store.disk, filepath.Join(t.dir, roomFile)
	err := d.stage(label, temp, content, true)
	if noRoom(err) && label == "renew" && d.remove("renew.room", room) == nil {
		err = d.stage(label, temp, content, true)
	}
	if err == nil && !exists(room) {
		_ = d.stage("room", room, make([]byte, roomSize), false)
	}
	return err
}

// roomSize is enough for any holder.json, with what a file itself takes.
const roomSize = 8 << 10
