package bench

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httputil"
	"time"
)

// conn is one HTTP/1.1 connection with one request at a time on it, that allocates nothing for a usual answer.
type conn struct {
	net  net.Conn
	read *bufio.Reader
	body []byte // of the last answer, used again for the next
	free func() bool
}

// answer is what came back. Its body is valid until the next call on the connection.
type answer struct {
	status int
	body   []byte
}

// head is what an answer's header says about its body.
type head struct {
	status  int
	length  int // -1: not given
	chunked bool
}

func newConn(ctx context.Context, nc net.Conn) *conn {
	c := &conn{net: nc, read: bufio.NewReader(nc)}
	c.free = context.AfterFunc(ctx, func() { _ = nc.SetDeadline(time.Unix(1, 0)) }) // only a closed one fails
	return c
}

// close ends the connection; the server notices.
func (c *conn) close() {
	c.free()
	_ = c.net.Close() // nothing is left to lose on it
}

// do sends a request and reads its answer.
func (c *conn) do(request []byte) (answer, error) {
	if err := c.send(request); err != nil {
		return answer{}, err
	}
	return c.receive()
}

// want is do for a request that must be answered with 200.
func (c *conn) want(request []byte) ([]byte, error) {
	a, err := c.do(request)
	if err != nil {
		return nil, err
	}
	return a.body, a.ok(request)
}

// ok is an error for all answers but 200.
func (a answer) ok(request []byte) error {
	if a.status == 200 {
		return nil
	}
	line, _, _ := bytes.Cut(request, []byte(" HTTP/1.1\r\n"))
	return fmt.Errorf("%s was answered with %d: %s", line, a.status, bytes.TrimSpace(a.body))
}

func (c *conn) send(request []byte) error {
	_, err := c.net.Write(request)
	return err
}

func (c *conn) receive() (answer, error) {
	h, err := c.receiveHead()
	if err != nil {
		return answer{}, err
	}
	err = c.readBody(h)
	return answer{h.status, c.body}, err
}

var errNotHTTP = errors.New("the answer is not HTTP/1.1")

// receiveHead reads the status line and the header.
func (c *conn) receiveHead() (h head, err error) {
	line, err := c.read.ReadSlice('\n')
	if err != nil {
		return h, err
	}
	if len(line) < len("HTTP/1.1 200") || !bytes.HasPrefix(line, []byte("HTTP/1.")) {
		return h, errNotHTTP
	}
	h = head{status: number(line[9:12]), length: -1}
	for {
		if line, err = c.read.ReadSlice('\n'); err != nil {
			return h, err
		}
		if line = bytes.TrimRight(line, "\r\n"); len(line) == 0 {
			return h, nil
		}
		h.field(line)
	}
}

func (h *head) field(line []byte) {
	if value, ok := cutField(line, "Content-Length:"); ok {
		h.length = number(value)
	} else if value, ok := cutField(line, "Transfer-Encoding:"); ok {
		h.chunked = bytes.EqualFold(value, []byte("chunked"))
	}
}

// cutField gives the value of a header line, if its name (which ends in a colon) is this one in any case.
func cutField(line []byte, name string) ([]byte, bool) {
	if len(line) < len(name) || !bytes.EqualFold(line[:len(name)], []byte(name)) {
		return nil, false
	}
	return bytes.TrimSpace(line[len(name):]), true
}

// readBody reads the whole body into c.body.
func (c *conn) readBody(h head) (err error) {
	switch {
	case h.chunked:
		c.body, err = io.ReadAll(httputil.NewChunkedReader(c.read))
		if err == nil {
			_, err = c.read.Discard(len("\r\n")) // behind the last chunk; nobody sends trailers here
		}
	case h.length < 0:
		return errNotHTTP
	default:
		if cap(c.body) < h.length {
			c.body = make([]byte, h.length)
		}
		c.body = c.body[:h.length]
		_, err = io.ReadFull(c.read, c.body)
	}
	return err
}

// number reads decimal digits up to the first byte that is none.
func number(digits []byte) (n int) {
	for _, d := range digits {
		if d < '0' || d > '9' {
			break
		}
		n = n*10 + int(d-'0')
	}
	return n
}
