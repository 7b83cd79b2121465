package dirstore

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"legible.sh/mutex/internal/history"
	"legible.sh/mutex/internal/lease"
)

const (
	// spoolFile takes events as they happen, a JSON line each: short-lived processes by the dozen would only stand in
	// each other's way at a database.
	spoolFile = "history.jsonl"
	// movingFile is a spool on its way into the database.
	movingFile = "history.jsonl.moving"
	// spoolLimit is how large a spool grows before it goes into the database: about 250 events.
	spoolLimit = 64 << 10
)

// line is an event as the spool has it.
type line struct {
	TS            stamp       `json:"ts"`
	Key           string      `json:"key"`
	Event         string      `json:"event"`
	LeaseID       string      `json:"lease_id"`
	Fence         lease.Fence `json:"fence"`
	Agent         string      `json:"agent"`
	PID           int         `json:"pid"`
	Host          string      `json:"host"`
	Reason        string      `json:"reason"`
	TTLSeconds    float64     `json:"ttl_seconds"`
	WaitedSeconds float64     `json:"waited_seconds"`
	HeldSeconds   float64     `json:"held_seconds"`
	By            string      `json:"by"`
	Detail        string      `json:"detail"`
}

func lineOf(e *history.Event) line {
	return line{
		TS: stamp(e.At.Round(0)), Key: e.Topic, Event: e.Kind.String(), LeaseID: e.LeaseID, Fence: e.Fence, Agent: e.Name,
		PID: e.PID, Host: e.Host, Reason: e.Reason, TTLSeconds: e.TTL.Seconds(), WaitedSeconds: e.Waited.Seconds(),
		HeldSeconds: e.Held.Seconds(), By: e.By, Detail: e.Detail,
	}
}

// event reads a line back; ok is false for what is no event of this version.
func (l *line) event() (e history.Event, ok bool) {
	kind, ok := kindOf(l.Event)
	return history.Event{
		At: time.Time(l.TS), Kind: kind, Topic: l.Key, LeaseID: l.LeaseID, Name: l.Agent, Reason: l.Reason, Host: l.Host,
		PID: l.PID, Fence: l.Fence, TTL: seconds(l.TTLSeconds), Waited: seconds(l.WaitedSeconds), Held: seconds(l.HeldSeconds),
		By: l.By, Detail: l.Detail,
	}, ok && checkKey(l.Key) == nil
}

func kindOf(name string) (history.Kind, bool) {
	for k := history.Acquired; k <= history.Reclaimed; k++ {
		if k.String() == name {
			return k, true
		}
	}
	return 0, false
}

// appendLines adds events to the spool in one write, and gives the size it then has. The shared lock says that the
// file is being written: one that is on its way into the database is read only when nobody writes any more.
func appendLines(path string, mode fs.FileMode, events []history.Event) (size int64, err error) {
	var text []byte
	for i := range events {
		b, err := json.Marshal(lineOf(&events[i]))
		if err != nil {
			return 0, err
		}
		text = append(append(text, b...), '\n')
	}
	for {
		f, err := openSpool(path, mode)
		if err != nil {
			return 0, err
		}
		if err = shareLock(f); err == nil && !same(f, path) {
			_ = f.Close() // moved away in this moment
			continue
		}
		if err == nil {
			_, err = f.Write(text)
		}
		if info, failed := f.Stat(); failed == nil {
			size = info.Size()
		}
		return size, errors.Join(err, f.Close())
	}
}

func openSpool(path string, mode fs.FileMode) (*os.File, error) {
	const flags = os.O_WRONLY | os.O_APPEND | openFlags
	f, err := os.OpenFile(path, flags, 0)
	if errors.Is(err, fs.ErrNotExist) {
		if f, err = os.OpenFile(path, flags|os.O_CREATE, mode); err == nil {
			_ = f.Chmod(mode) // what the umask took away; if it is another's, they have done it
		}
	}
	return f, err
}

// readSpool gives the events of a spool, oldest first; none if it is not there. Lines that are not events (the last
// one before a power failure) are passed over.
func readSpool(path string) ([]history.Event, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|openFlags, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return parseSpool(f)
}

func parseSpool(r io.Reader) (events []history.Event, err error) {
	lines := bufio.NewReader(io.LimitReader(r, 64*spoolLimit))
	for {
		text, err := lines.ReadBytes('\n')
		var l line
		if text = bytes.TrimSpace(text); len(text) > 0 && json.Unmarshal(text, &l) == nil {
			if e, ok := l.event(); ok {
				events = append(events, e)
			}
		}
		if errors.Is(err, io.EOF) {
			return events, nil
		}
		if err != nil {
			return events, err
		}
	}
}
