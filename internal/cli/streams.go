package cli

import "io"

// Streams are a command's standard streams. The files behind them may be terminals or not.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	OutTTY   bool // Out is a terminal
	ErrTTY   bool // Err is a terminal
	Width    int  // columns of the terminal behind Out; 0 if unknown
	ErrWidth int  // columns of the terminal behind Err; 0 if unknown

	// Size gives the columns and lines of the terminal behind Out as they are now; nil if there is none.
	Size func() (width, height int)
	// Raw has the terminal behind In hand over each key as it is typed, until restore is called; nil if there is none.
	Raw func() (restore func(), err error)
}
