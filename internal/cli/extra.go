package cli

// What the annotations of a front door's own command may hold: sections of its help.
const (
	NoteExit        = noteExit
	NoteEnvironment = noteEnv
)

// ExitError gives an error of a front door's own command an exit code. Without an error there is nothing to say.
func ExitError(code int, err error) error { return &exit{code, err} }
