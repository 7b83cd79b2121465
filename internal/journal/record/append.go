package record

import (
	"encoding/hex"
	"strconv"
	"time"

	"legible.sh/mutex/internal/lease"
)

// AppendEvent appends the line of a durable event. One that is not durable has no line, and appends nothing.
func AppendEvent(b []byte, topic lease.Topic, e *lease.Event) []byte {
	if !e.Durable() {
		return b
	}
	switch e.Kind {
	case lease.Declared:
		b = field(begin(b, Topic, topic), "capacity").int(int64(e.Capacity))
		b = field(b, "fence").int(int64(e.Fence))
	case lease.Granted:
		b = appendGrant(begin(b, Grant, topic), e)
	case lease.Renewed:
		b = appendLease(begin(b, Renew, topic), e)
		b = field(b, "ttl").millis(e.TTL)
		b = field(b, "at").time(e.At)
		b = field(b, "expires").time(e.Expires)
	case lease.Released:
		b = field(appendLease(begin(b, Release, topic), e), "at").time(e.At)
	case lease.Expired:
		b = field(appendLease(begin(b, Expire, topic), e), "at").time(e.At)
	case lease.Forced:
		b = field(appendLease(begin(b, Force, topic), e), "at").time(e.At)
		b = optional(b, "by", e.By)
	case lease.Enqueued:
		b = appendWait(begin(b, Wait, topic), e)
	case lease.Left:
		b = field(field(begin(b, Leave, topic), "key").key(e.Key), "at").time(e.At)
		b = optional(b, "cause", e.Cause.String())
	case lease.Spent:
		b = field(field(begin(b, Spent, topic), "key").key(e.Key), "at").time(e.At)
	}
	return append(b, "}\n"...)
}

// AppendFloor appends the line that retires a topic and makes new ones start above fence.
func AppendFloor(b []byte, topic lease.Topic, fence lease.Fence) []byte {
	return append(field(begin(b, Floor, topic), "fence").int(int64(fence)), "}\n"...)
}

// AppendLimits appends the line that only states the floor, and high, the highest fence that anybody was granted.
func AppendLimits(b []byte, floor, high lease.Fence) []byte {
	b = field(begin(b, Floor, ""), "fence").int(int64(floor))
	return append(field(b, "high").int(int64(high)), "}\n"...)
}

// AppendRaise appends the line that lifts every fence to at least this one.
func AppendRaise(b []byte, fence lease.Fence) []byte {
	return append(field(begin(b, Raise, ""), "fence").int(int64(fence)), "}\n"...)
}

// AppendClock appends a reading of the wall clock together with the clock up of the machine's boot.
func AppendClock(b []byte, at time.Time, boot string, up time.Duration) []byte {
	b = field(begin(b, Clock, ""), "at").time(at)
	b = optional(b, "boot", boot)
	return append(field(b, "up").millis(up), "}\n"...)
}

// syncedMark replaces the brace that a line begins with.
const syncedMark = `{"synced":true,`

// AppendSynced appends a line, marked: all that stands before it in the file is safe.
func AppendSynced(b, line []byte) []byte {
	return append(append(b, syncedMark...), line[1:]...)
}

func appendGrant(b line, e *lease.Event) line {
	b = field(b, "lease").token(e.Token)
	b = field(b, "name").text(e.Who.Name)
	b = field(b, "fence").int(int64(e.Fence))
	b = field(b, "since").time(e.Since)
	b = field(b, "expires").time(e.Expires)
	b = field(b, "ttl").millis(e.TTL)
	if e.Slot >= 0 {
		b = field(b, "slot").int(int64(e.Slot))
	}
	if e.Declares {
		b = field(b, "capacity").int(int64(e.Capacity))
	}
	if !e.Key.IsZero() {
		b = field(b, "key").key(e.Key)
	}
	if !e.Enqueued.IsZero() {
		b = field(b, "enqueued").time(e.Enqueued)
	}
	return appendWho(b, &e.Who)
}

func appendLease(b line, e *lease.Event) line {
	return field(field(b, "lease").token(e.Token), "fence").int(int64(e.Fence))
}

func appendWait(b line, e *lease.Event) line {
	b = field(b, "key").key(e.Key)
	b = field(b, "name").text(e.Who.Name)
	b = field(b, "ttl").millis(e.TTL)
	b = field(b, "enqueued").time(e.Enqueued)
	return appendWho(b, &e.Who)
}

// appendWho is what a holder says of itself besides its name.
func appendWho(b line, w *lease.Who) line {
	b = optional(b, "reason", w.Reason)
	b = optional(b, "host", w.Host)
	if w.PID != 0 {
		b = field(b, "pid").int(int64(w.PID))
	}
	return b
}

// line is a record being written, its closing brace still missing.
type line []byte

func begin(b []byte, t Type, topic lease.Topic) line {
	b = append(b, `{"t":"`...)
	b = append(b, typeNames[t]...)
	b = append(b, '"')
	if topic == "" {
		return b
	}
	b = append(b, `,"topic":"`...)
	b = append(b, topic...) // its alphabet needs no escapes
	return append(b, '"')
}

func field(b line, name string) line {
	b = append(b, ',', '"')
	b = append(b, name...)
	return append(b, '"', ':')
}

func optional(b line, name, text string) line {
	if text == "" {
		return b
	}
	return field(b, name).text(text)
}

func (b line) int(n int64) line { return strconv.AppendInt(b, n, 10) }

// time writes no time before 1970: none can be read back.
func (b line) time(t time.Time) line { return b.int(max(t.UnixMilli(), 0)) }

func (b line) token(t lease.Token) line { return append(t.AppendReveal(append(b, '"')), '"') }

func (b line) key(k lease.Key) line { return append(hex.AppendEncode(append(b, '"'), k[:]), '"') }

// millis writes a duration exactly: as few decimals as it needs.
func (b line) millis(d time.Duration) line {
	b = b.int(int64(d / time.Millisecond))
	rest := int64(d % time.Millisecond)
	if rest == 0 {
		return b
	}
	b = append(b, '.')
	for unit := int64(100_000); rest > 0; unit /= 10 {
		b = append(b, byte('0'+rest/unit))
		rest %= unit
	}
	return b
}
