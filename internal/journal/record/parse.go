package record

import (
	"errors"
	"fmt"
	"time"

	"legible.sh/mutex/internal/lease"
)

// ErrBadRecord is what every error of [Parse] is.
var ErrBadRecord = errors.New("not a record")

// maxCapacity bounds what a file may claim a capacity to be, far above any limit that a server is run with: slots
// are kept as a bitmap of that size.
const maxCapacity = 1 << 20

// Parse reads one line, with or without its newline. A type that is not known is no error: its record is [Unknown].
// The error says what is wrong and repeats nothing of the line, which may hold a lease.
func Parse(b []byte) (Record, error) {
	var f fields
	if err := (&scanner{b: b}).object(f.visit); err != nil {
		return Record{}, fmt.Errorf("%w: %w", ErrBadRecord, err)
	}
	r := Record{Type: typeNamed(f.text(fT))}
	if f.err != nil { // no type at all
		return Record{}, fmt.Errorf("%w: %w", ErrBadRecord, f.err)
	}
	r.Synced = string(f.raw[fSynced]) == "true"
	f.interpret(&r)
	if f.err != nil {
		return Record{}, fmt.Errorf("%w: a %s %w", ErrBadRecord, r.Type, f.err)
	}
	return r, nil
}

// interpret reads the fields that the record's type has.
func (f *fields) interpret(r *Record) {
	e := &r.Event
	switch r.Type {
	case Topic:
		r.Topic = f.topic()
		*e = lease.Event{Kind: lease.Declared, Capacity: f.capacity(), Fence: f.fence(fFence)}
	case Grant:
		r.Topic = f.topic()
		f.grant(e)
	case Renew:
		r.Topic = f.topic()
		f.renew(e)
	case Release, Expire, Force:
		r.Topic = f.topic()
		*e = lease.Event{Kind: endings[r.Type], Token: f.token(), Fence: f.fence(fFence), At: f.optionalTime(fAt), By: f.optionalText(fBy)}
	case Wait:
		r.Topic = f.topic()
		*e = lease.Event{Kind: lease.Enqueued, Key: f.key(), Who: f.who(), TTL: f.duration(fTTL), Enqueued: f.time(fEnqueued)}
		e.At = e.Enqueued
	case Leave:
		r.Topic = f.topic()
		*e = lease.Event{Kind: lease.Left, Key: f.key(), At: f.time(fAt)}
		if f.optionalText(fCause) == lease.GaveUp.String() {
			e.Cause = lease.GaveUp
		}
	case Spent:
		r.Topic = f.topic()
		*e = lease.Event{Kind: lease.Spent, Key: f.key(), At: f.time(fAt)}
	case Floor:
		if f.has(fTopic) {
			r.Topic = f.topic()
		}
		e.Fence = f.required(fFence).fence(fFence)
		r.Limits, r.High = f.has(fHigh), f.fence(fHigh)
	case Raise:
		e.Fence = f.required(fFence).fence(fFence)
	case Clock:
		e.At, r.Boot, r.Up = f.time(fAt), f.optionalText(fBoot), f.duration(fUp)
	}
}

var endings = [...]lease.Kind{Release: lease.Released, Expire: lease.Expired, Force: lease.Forced}

func (f *fields) grant(e *lease.Event) {
	*e = lease.Event{
		Kind: lease.Granted, Token: f.token(), Who: f.who(), Fence: f.required(fFence).fence(fFence), Slot: -1,
		Capacity: f.capacity(), Since: f.time(fSince), Expires: f.time(fExpires), Enqueued: f.optionalTime(fEnqueued),
	}
	e.At, e.Declares = e.Since, e.Capacity > 0
	if f.has(fKey) {
		e.Key = f.key()
	}
	if f.has(fSlot) {
		e.Slot = int(f.int(fSlot, maxCapacity))
	}
	if f.has(fTTL) {
		e.TTL = f.duration(fTTL)
	} else if e.TTL = e.Expires.Sub(e.Since); e.TTL <= 0 {
		f.fail(fExpires, "is not after since")
	}
}

// renew leaves TTL and At zero where the file does not say them: what they were can be told from the grant.
func (f *fields) renew(e *lease.Event) {
	*e = lease.Event{
		Kind: lease.Renewed, Token: f.token(), Fence: f.fence(fFence), At: f.optionalTime(fAt), Expires: f.time(fExpires),
	}
	if f.has(fTTL) {
		e.TTL = f.duration(fTTL)
	}
}

func (f *fields) who() lease.Who {
	w := lease.Who{Name: f.optionalText(fName), Reason: f.optionalText(fReason), Host: f.optionalText(fHost)}
	if f.has(fPID) {
		w.PID = int(f.int(fPID, 1<<31))
	}
	return w
}

func (f *fields) topic() lease.Topic {
	t, err := lease.ParseTopic(f.text(fTopic))
	if err != nil {
		f.fail(fTopic, "is not a topic name")
	}
	return t
}

func (f *fields) token() lease.Token {
	t, err := lease.ParseToken(f.text(fLease))
	if err != nil {
		f.fail(fLease, "is not 32 lower-case hex digits")
	}
	return t
}

func (f *fields) capacity() int {
	if !f.has(fCapacity) {
		return 0
	}
	return int(f.int(fCapacity, maxCapacity))
}

// fence is 0 where it is not said.
func (f *fields) fence(k fieldName) lease.Fence {
	if !f.has(k) {
		return 0
	}
	return lease.Fence(f.int(k, int64(lease.MaxFence)))
}

func (f *fields) optionalTime(k fieldName) time.Time {
	if !f.has(k) {
		return time.Time{}
	}
	return f.time(k)
}
