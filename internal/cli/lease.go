package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"legible.sh/mutex/internal/locker"
)

// leaseFlags are the flags of a command that needs the lease, with where it finds the lease.
type leaseFlags struct {
	d           *door
	token, file string
}

func (d *door) leaseFlags(cmd *cobra.Command) *leaseFlags {
	l := &leaseFlags{d: d}
	if d.Lease.Flag != "" {
		cmd.Flags().StringVar(&l.token, d.Lease.Flag, "", "the lease's `token`; whoever lists processes can see it, so better use a file or "+d.Lease.Env)
	}
	cmd.Flags().StringVar(&l.file, d.Lease.FileFlag, "", "a `file` that holds the lease, or the grant as acquire printed it; - is stdin")
	return l
}

// find gives the lease: from rest, what stood after the key, or from a flag, or from the environment.
func (l *leaseFlags) find(ctx context.Context, rest []string) (locker.Token, error) {
	switch {
	case len(rest) == 1 && rest[0] == "-":
		return l.read(ctx, "-")
	case len(rest) == 1:
		return parseLease("the argument", rest[0])
	case l.token != "":
		return parseLease("--"+l.d.Lease.Flag, l.token)
	case l.file != "":
		return l.read(ctx, l.file)
	}
	if v := os.Getenv(l.d.Lease.Env); v != "" {
		return parseLease(l.d.Lease.Env, v)
	}
	return "", usagef("which lease? Give it %s", l.ways())
}

func (l *leaseFlags) ways() string {
	ways := fmt.Sprintf("in %s or by --%s FILE", l.d.Lease.Env, l.d.Lease.FileFlag)
	if l.d.Lease.Arg {
		ways += fmt.Sprintf(", or after the %s; - reads it from stdin", l.d.Noun)
	}
	return ways
}

// read takes the lease from a file, or from stdin. A pipe or a terminal may keep that waiting for ever, and not every one of them
// has deadlines; so when ctx ends the goroutine that waits is left behind, and ends with the process, which is next.
func (l *leaseFlags) read(ctx context.Context, path string) (locker.Token, error) {
	type result struct {
		lease locker.Token
		err   error
	}
	done := make(chan result, 1)
	go func() {
		lease, err := l.readFile(path)
		done <- result{lease, err}
	}()
	select {
	case r := <-done:
		return r.lease, r.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

func (l *leaseFlags) readFile(path string) (locker.Token, error) {
	if path == "-" {
		return readLease("stdin", l.d.In)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return readLease(path, f)
}

// maxLeaseFile bounds what is read in search of a lease: a grant with 1,024 holders' names is smaller.
const maxLeaseFile = 1 << 20

// readLease takes a lease from a text that is one, or from a grant.
func readLease(name string, r io.Reader) (locker.Token, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxLeaseFile))
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	text := strings.TrimSpace(string(b))
	if strings.HasPrefix(text, "{") {
		text = leaseOfGrant(text)
	}
	return parseLease(name, text)
}

var errNoLease = errors.New("no lease in it")

func parseLease(from, text string) (locker.Token, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return "", usagef("%s: %v", from, errNoLease)
	}
	if len(text) > 256 || strings.ContainsAny(text, " \t\r\n{}\"") {
		return "", usagef("%s: that is not a lease", from)
	}
	return locker.Token(text), nil
}

// leaseOfGrant takes the lease out of a grant as acquire prints it; "" if there is none.
func leaseOfGrant(text string) string {
	var grant struct{ Lease, Token string }
	if json.Unmarshal([]byte(text), &grant) != nil {
		return ""
	}
	return cmp.Or(grant.Lease, grant.Token)
}
