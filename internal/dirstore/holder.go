package dirstore

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"legible.sh/mutex/internal/lease"
	"legible.sh/mutex/internal/locker"
)

// holder is holder.json: who holds a key. The token itself is with its owner alone.
type holder struct {
	Agent       string      `json:"agent"`
	PID         int         `json:"pid"`
	Host        string      `json:"host"`
	Reason      string      `json:"reason"`
	AcquiredAt  stamp       `json:"acquired_at"`
	ExpiresAt   stamp       `json:"expires_at"`
	RenewedAt   *stamp      `json:"renewed_at"` // null: never
	Fence       lease.Fence `json:"fence"`
	LeaseID     string      `json:"lease_id"`
	TTLSeconds  float64     `json:"ttl_seconds"`
	TokenSHA256 string      `json:"token_sha256"`
	BootID      string      `json:"boot_id"`
	BootExpires int64       `json:"boot_expires_ms"` // the end by the clock that counts from the boot, if this is the same boot
}

// maxRecord bounds what is read of one file.
const maxRecord = 64 << 10

var errNotAFile = errors.New("not a plain file")

// readRecord reads one small file without ever waiting for it, with its mtime.
func readRecord(path string) (content []byte, mtime time.Time, err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, time.Time{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, time.Time{}, err
	}
	if !info.Mode().IsRegular() {
		return nil, time.Time{}, errNotAFile
	}
	content, err = io.ReadAll(io.LimitReader(f, maxRecord))
	return content, info.ModTime(), err
}

// parseHolder reads holder.json. Whatever is missing or out of range makes it corrupt.
func parseHolder(content []byte) (*holder, error) {
	var h holder
	if err := json.Unmarshal(content, &h); err != nil {
		return nil, err
	}
	switch {
	case h.Fence < 1 || h.Fence > lease.MaxFence:
		return nil, errors.New("no usable fence")
	case h.TTLSeconds <= 0 || h.TTLSeconds > maxTTL.Seconds():
		return nil, errors.New("no usable ttl_seconds")
	case time.Time(h.AcquiredAt).IsZero() || time.Time(h.ExpiresAt).IsZero():
		return nil, errors.New("no acquired_at or expires_at")
	case !isHex(h.LeaseID, 8) || !isHex(h.TokenSHA256, sha256.Size):
		return nil, errors.New("no usable lease_id or token_sha256")
	}
	return &h, nil
}

func isHex(s string, size int) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == size
}

func (h *holder) ttl() time.Duration { return seconds(h.TTLSeconds) }

func seconds(s float64) time.Duration { return time.Duration(math.Round(s * float64(time.Second))) }

// left is the time until the lease ends, never more than its ttl; 0 or less: it has ended.
func (h *holder) left(at reading) time.Duration {
	return min(at.left(h.BootID, time.Duration(h.BootExpires)*time.Millisecond, time.Time(h.ExpiresAt)), h.ttl())
}

func (h *holder) renewed() time.Time {
	if h.RenewedAt == nil {
		return time.Time{}
	}
	return time.Time(*h.RenewedAt)
}

// ends writes down when the lease ends, by both clocks. It is rounded up: nobody may take over a moment early.
func (h *holder) ends(at reading, end, renewed time.Time, ttl time.Duration) {
	h.ExpiresAt, h.TTLSeconds = stamp(end.Round(0)), ttl.Seconds()
	h.BootID = at.boot
	h.BootExpires = (at.up + end.Sub(at.now) + time.Millisecond - 1).Milliseconds()
	if !renewed.IsZero() {
		h.RenewedAt = (*stamp)(&renewed)
	}
}

// owns tells whether the token is this lease's.
func (h *holder) owns(token locker.Token) bool {
	return subtle.ConstantTimeCompare([]byte(hashOf(token)), []byte(h.TokenSHA256)) == 1
}

func hashOf(token locker.Token) string {
	sum := sha256.Sum256([]byte(token.Reveal()))
	return hex.EncodeToString(sum[:])
}

func (h *holder) who() lease.Who {
	return lease.Who{Name: h.Agent, Reason: h.Reason, Host: h.Host, PID: h.PID}
}

// public is the holder as everybody may see it.
func (h *holder) public(at reading) locker.Holder {
	return locker.Holder{
		Who: locker.Who(h.who()), LeaseID: h.LeaseID, Fence: int64(h.Fence),
		Since: time.Time(h.AcquiredAt), Expires: at.now.Add(h.left(at)).Round(0), Renewed: h.renewed(),
	}
}

// granted is the event that gave the holder its lease, on the clock of at.
func (h *holder) granted(at reading) lease.Event {
	return lease.Event{
		Kind: lease.Granted, At: at.past(time.Time(h.AcquiredAt)), Since: at.past(time.Time(h.AcquiredAt)),
		Token: handleOf(h.LeaseID), Who: h.who(), Fence: h.Fence, Capacity: 1, TTL: h.ttl(), Expires: at.now.Add(h.left(at)),
	}
}

// handleOf is what the rules know a lease by: its public id in a token's place. The tokens of others are not known here.
func handleOf(leaseID string) (handle lease.Token) {
	_, _ = hex.Decode(handle[:8], []byte(leaseID)) // checked where it was read
	return handle
}

// idOf is the public id that a handle stands for.
func idOf(handle lease.Token) string {
	return handle.Reveal()[:16]
}

// encode gives a record as its file has it.
func encode(v any) []byte {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("dirstore: a record that JSON refuses: %v", err)) // none has a value that it could
	}
	return append(b, '\n')
}
