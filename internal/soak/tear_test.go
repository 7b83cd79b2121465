package soak_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// tear does to the journal of a killed server what a crash in the middle of a write might: it cuts the file at a random
// byte after the last record that anybody was answered for, or leaves half a record at its end.
func tear(t *testing.T, data string, l *ledger, chance *rand.Rand) {
	t.Helper()
	name := filepath.Join(data, "mutex.jsonl")
	image, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if chance.IntN(2) == 0 {
		half := `{"t":"grant","topic":"shared-1","lease":"00000000000000000000000000000001","name":"nobody","fence":99999,"since":`
		image = append(image, half[:1+chance.IntN(len(half)-1)]...)
	} else if safe := l.lastAnswered(image); safe < len(image) {
		image = image[:safe+chance.IntN(len(image)-safe+1)]
	}
	if err := os.WriteFile(name, image, 0o600); err != nil {
		t.Fatal(err)
	}
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
	end := len(image)
	for end > 0 {
		start := bytes.LastIndexByte(image[:end-1], '\n') + 1
		var w written
		if json.Unmarshal(image[start:end], &w) == nil && (w.Lease == "" || l.answered(&w)) {
			return end
		}
		end = start
	}
	return len(image)
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
