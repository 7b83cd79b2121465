package mcpserver

import (
	"context"
	"io"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// RunStdio serves one session, whose messages come from in and go to out, a line each. It ends with in, with ctx, or when
// out takes no more, and has then given back what the session held.
func (s *Server) RunStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(ctx, s.interrupt)()
	err := s.mcp.Run(ctx, &mcp.IOTransport{Reader: &input{in, s.interrupt}, Writer: output{out, cancel}})
	s.drop(everyone, true)
	if ctx.Err() != nil {
		return nil // being asked to end is no failure
	}
	return err
}

// input is where messages come from. At its end the calls that are out end too: nobody is there for their results.
type input struct {
	io.Reader
	ended func()
}

func (i *input) Read(b []byte) (int, error) {
	n, err := i.Reader.Read(b)
	if err != nil {
		i.ended()
	}
	return n, err
}

// Close does nothing: whoever opened it closes it.
func (i *input) Close() error { return nil }

// output is where messages go. When it fails nobody reads them any more, even if in stays open.
type output struct {
	io.Writer
	failed func()
}

func (o output) Write(b []byte) (int, error) {
	n, err := o.Writer.Write(b)
	if err != nil {
		o.failed()
	}
	return n, err
}

// Close does nothing, likewise.
func (output) Close() error { return nil }
