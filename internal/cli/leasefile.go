package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"legible.sh/mutex/internal/locker"
)

// read takes the lease on key from a file, or from stdin. A pipe or a terminal may keep that waiting for ever, and not every one of
// them has deadlines; so when ctx ends the goroutine that waits is left behind, and ends with the process, which is next.
func (l *leaseFlags) read(ctx context.Context, key, path string) (locker.Token, error) {
	type result struct {
		lease locker.Token
		err   error
	}
	done := make(chan result, 1)
	go func() {
		lease, err := l.readFile(key, path)
		done <- result{lease, err}
	}()
	select {
	case r := <-done:
		return r.lease, r.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

func (l *leaseFlags) readFile(key, path string) (locker.Token, error) {
	if path == "-" {
		return readLease(l.from, key, l.d.In)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("--%s: %w", l.d.Lease.FileFlag, err)
	}
	defer f.Close()
	return readLease(l.from, key, f)
}

// maxLeaseFile bounds what is read in search of a lease: a grant with 1,024 holders' names is smaller.
const maxLeaseFile = 1 << 20

// readLease takes the lease on key from a text that is a lease, or that is grants as acquire prints them.
func readLease(name, key string, r io.Reader) (locker.Token, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxLeaseFile))
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	text := strings.TrimSpace(string(b))
	if !strings.HasPrefix(text, "{") {
		return parseLease(name, text)
	}
	lease, others := leaseOfGrants(text, key)
	if lease == "" && len(others) > 0 {
		return "", usagef("%s: the lease in it is on %s, not on %s", name, strings.Join(others, ", "), key)
	}
	return parseLease(name, lease)
}

// leaseOfGrants takes the lease on key out of grants as acquire prints them, one document after another; "" if there is
// none, with the keys that there are leases on. Of two on one key the later one counts, as in a file that was appended to.
// A grant that names no key is on whatever it is used for.
func leaseOfGrants(text, key string) (lease string, others []string) {
	for decoder := json.NewDecoder(strings.NewReader(text)); ; {
		var grant struct{ Topic, Key, Lease, Token string }
		if err := decoder.Decode(&grant); err != nil {
			if !errors.Is(err, io.EOF) {
				return "", nil
			}
			return lease, others
		}
		switch on := cmp.Or(grant.Topic, grant.Key, key); {
		case on == key:
			lease = cmp.Or(grant.Lease, grant.Token)
		case !slices.Contains(others, on):
			others = append(others, on)
		}
	}
}
