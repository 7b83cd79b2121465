package cli

import "io"

// Streams are a command's standard streams. The files behind them may be terminals or not.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	OutTTY   bool // Out is a terminal
	ErrTTY   bool // Err is a terminal
	Width    int  // columns of the terminal behind Out; 0 if unknown
}
