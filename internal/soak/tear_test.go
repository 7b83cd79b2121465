package soak_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// tear does to the journal of a killed server what a crash in the middle of a write might. Behind the last record stand
// blank lines, which records are written over.
func tear(t *testing.T, data string, l *ledger, chance *rand.Rand) {
	t.Helper()
	name := filepath.Join(data, "mutex.jsonl")
	image, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	tears := []func([]byte, *ledger, *rand.Rand) []byte{halfAtTheEnd, halfOverBlanks, cutBehindAnswers, loseSectors}
	if err := os.WriteFile(name, tears[chance.IntN(len(tears))](image, l, chance), 0o600); err != nil {
		t.Fatal(err)
	}
}

// half is the beginning of a record that nobody was answered for.
const half = `{"t":"grant","topic":"shared-1","lease":"00000000000000000000000000000001","name":"nobody","fence":99999,"since":`

// halfAtTheEnd leaves half a record behind all else.
func halfAtTheEnd(image []byte, _ *ledger, chance *rand.Rand) []byte {
	return append(image, half[:1+chance.IntN(len(half)-1)]...)
}

// halfOverBlanks leaves half a record right behind the last one, up to where a sector begins: the rest was lost.
func halfOverBlanks(image []byte, _ *ledger, _ *rand.Rand) []byte {
	from := recordsEnd(image)
	to := (from/sector + 2) * sector
	for len(image) < to {
		image = append(image, '\n')
	}
	copy(image[from:to], `{"t":"grant","topic":"shared-1","reason":"`+strings.Repeat("lost ", sector))
	return image
}

// cutBehindAnswers cuts the file at any byte after the last record that anybody was answered for.
func cutBehindAnswers(image []byte, l *ledger, chance *rand.Rand) []byte {
	safe, end := l.lastAnswered(image), len(image)
	if chance.IntN(2) == 0 {
		end = recordsEnd(image)
	}
	return image[:safe+chance.IntN(end-safe+1)]
}

// loseSectors makes any sectors of the last batch what they were before it, but not what anybody was answered for.
func loseSectors(image []byte, l *ledger, chance *rand.Rand) []byte {
	from := l.lastAnswered(image)
	if mark := bytes.LastIndex(image, []byte(`{"synced":true`)); mark > from {
		from = mark
	}
	for end := recordsEnd(image); from < end; {
		next := min((from/sector+1)*sector, end)
		if chance.IntN(2) == 0 {
			copy(image[from:next], bytes.Repeat([]byte("\n"), sector))
		}
		from = next
	}
	return image
}

// sector is what a disk writes as a whole.
const sector = 512

// recordsEnd is where the blank lines begin.
func recordsEnd(image []byte) int {
	return min(len(bytes.TrimRight(image, "\n"))+1, len(image))
}

// written is what the tests need of a record.
type written struct {
	T       string `json:"t"`
	Lease   string `json:"lease"`
	Expires int64  `json:"expires"`
}

// lastAnswered is the end of the last record that an answer rested on. A file without any ends nowhere that is safe
// to cut: all of it may be a compact copy of what was answered.
func (l *ledger) lastAnswered(image []byte) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	end := recordsEnd(image)
	for end > 0 {
		start := bytes.LastIndexByte(image[:end-1], '\n') + 1
		var w written
		if json.Unmarshal(image[start:end], &w) == nil && (w.Lease == "" || l.answered(&w)) {
			return end
		}
		end = start
	}
	return recordsEnd(image)
}

// answered tells whether the record's effect is one that a client knows of.
func (l *ledger) answered(w *written) bool {
	p := l.promises[w.Lease]
	switch {
	case p == nil:
		return false
	case w.T == "grant":
		return true
	case w.T == "renew":
		return !time.UnixMilli(w.Expires).After(p.expires)
	}
	return p.state == released
}
