package httpserver_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"legible.sh/mutex/internal/httpserver"
)

// oneConn is a listener whose only connection is one end of a pipe.
type oneConn struct {
	net.Listener
	conn net.Conn
}

func (l oneConn) Accept() (net.Conn, error) { return l.conn, nil }

// deadlineStep is one thing that net/http may do to a connection while it is read from and written to.
type deadlineStep struct {
	which string        // of "read", "write", "both"
	after time.Duration // from the last step
	until time.Duration // from now; 0: none; below: long ago, as net/http calls somebody back
}

// play reads from a connection and writes to it, again and again, while its deadlines change, and tells what came of each
// and when.
func play(t *testing.T, wrap func(net.Conn) net.Conn, steps []deadlineStep) (log []string) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		conn := wrap(near)
		begun := time.Now()
		var running sync.WaitGroup
		var reads, writes []string
		var taken []byte
		note := func(n int, err error) string {
			return fmt.Sprintf("%v: %d %t", time.Since(begun), n, errors.Is(err, os.ErrDeadlineExceeded))
		}
		// Both try anew a little after each end, until the connection is closed. The peer sends and takes a few bytes
		// now and then. Odd nanoseconds keep any two of them from the same moment, where chance would decide.
		forever := func(pause time.Duration, once func() error) {
			running.Go(func() {
				for err := error(nil); err == nil || errors.Is(err, os.ErrDeadlineExceeded); time.Sleep(pause) {
					err = once()
				}
			})
		}
		forever(3_000_017, func() error {
			n, err := conn.Read(make([]byte, 2))
			reads = append(reads, note(n, err))
			return err
		})
		forever(7_000_211, func() error {
			n, err := conn.Write([]byte("abcdefgh"))
			writes = append(writes, note(n, err))
			return err
		})
		forever(41_001_013, func() error {
			_, err := far.Write([]byte("1234"))
			return err
		})
		forever(29_003_301, func() error {
			b := make([]byte, 3)
			n, err := far.Read(b)
			taken = append(taken, b[:n]...)
			return err
		})
		for _, s := range steps {
			time.Sleep(s.after + 1009)
			var at time.Time
			switch {
			case s.until < 0:
				at = time.Unix(1, 0)
			case s.until > 0:
				at = time.Now().Add(s.until + 37)
			}
			set := map[string]func(time.Time) error{"read": conn.SetReadDeadline, "write": conn.SetWriteDeadline, "both": conn.SetDeadline}
			if err := set[s.which](at); err != nil {
				t.Error(err)
			}
		}
		time.Sleep(time.Second)
		if err := errors.Join(conn.SetDeadline(time.Time{}), conn.Close(), far.Close()); err != nil {
			t.Error(err)
		}
		running.Wait()
		log = slices.Concat(reads, []string{"writes"}, writes, []string{string(taken)})
	})
	return log
}

// Whatever is done with its deadlines, an accepted connection reads and writes the same bytes, and gives up at the same
// moments, as the one below it would.
func TestDeadlinesAreThoseOfTheConnection(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var steps []deadlineStep
		for range rapid.IntRange(1, 12).Draw(r, "steps") {
			steps = append(steps, deadlineStep{
				which: rapid.SampledFrom([]string{"read", "write", "both"}).Draw(r, "which"),
				after: time.Duration(rapid.IntRange(0, 60).Draw(r, "after")) * time.Millisecond,
				until: time.Duration(rapid.SampledFrom([]int{-1, 0, 1, 5, 20, 50, 300}).Draw(r, "until")) * time.Millisecond,
			})
		}
		want := play(t, func(c net.Conn) net.Conn { return c }, steps)
		got := play(t, func(c net.Conn) net.Conn {
			accepted, err := httpserver.Listen(oneConn{conn: c}).Accept()
			if err != nil {
				t.Fatal(err)
			}
			return accepted
		}, steps)
		if !slices.Equal(got, want) {
			r.Fatalf("with %v\n got %q\nwant %q", steps, got, want)
		}
	})
}

// A read that net/http calls back ends at once, and the next one waits again.
func TestACallBackEndsOneRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		conn, err := httpserver.Listen(oneConn{conn: near}).Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		defer far.Close()
		read := make(chan error)
		go func() {
			_, err := conn.Read(make([]byte, 1))
			read <- err
		}()
		synctest.Wait()
		_ = conn.SetReadDeadline(time.Unix(1, 0))
		if err := <-read; !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("called back: %v", err)
		}
		if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("still called back: %v", err)
		}
		_ = conn.SetReadDeadline(time.Time{})
		go func() { _, _ = io.WriteString(far, "x") }()
		if _, err := conn.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
	})
}
