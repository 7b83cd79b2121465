package bench

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// command is a server to start: it says its URL on stdout or stderr once it serves.
type command struct {
	argv, env []string
	stdin     string
}

// child is a server that was started here.
type child struct {
	url  string
	pid  int
	stop func() // ends it and waits until it has

	said []string // its last lines; may be read once it has ended
}

// grace is how long a child may take to end by itself.
const grace = 10 * time.Second

var saidURL = regexp.MustCompile(`url"?[=:]"?((?:https?|unix)://[^\s"]+)`)

// startChild starts a server and waits until it has said its URL. It ends with the context, or by stop.
func startChild(ctx context.Context, c command) (*child, error) {
	ctx, cancel := context.WithCancel(ctx)
	cmd := exec.CommandContext(ctx, c.argv[0], c.argv[1:]...)
	cmd.Env = c.env
	cmd.WaitDelay = grace
	cmd.Cancel = func() error {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			return cmd.Process.Kill() // where there is no such signal
		}
		return nil
	}
	dieWithParent(cmd)
	stdin, err := cmd.StdinPipe() // kept open: the floor ends when it closes
	if err != nil {
		cancel()
		return nil, err
	}
	output, w := io.Pipe()
	cmd.Stdout, cmd.Stderr = w, w

	k := &child{}
	started, ended := make(chan error, 1), make(chan struct{})
	url := make(chan string, 1)
	go runChild(cmd, w, started) // closes w when the child has ended
	go k.listen(output, url, ended)
	k.stop = func() { cancel(); <-ended }
	if err := <-started; err != nil {
		k.stop()
		return nil, fmt.Errorf("cannot start a server: %w", err)
	}
	k.pid = cmd.Process.Pid
	if _, err := io.WriteString(stdin, c.stdin); err != nil {
		k.stop()
		return nil, fmt.Errorf("a started server does not read: %w", err)
	}
	select {
	case k.url = <-url:
		return k, nil
	case <-ended:
		k.stop()
		return nil, fmt.Errorf("%s ended at once: %s", strings.Join(c.argv, " "), strings.Join(k.said, "\n"))
	case <-ctx.Done():
		k.stop()
		return nil, context.Cause(ctx)
	}
}

// runChild starts the command and waits for it, on a thread that lives as long: on Linux the child dies with the
// thread that started it.
func runChild(cmd *exec.Cmd, output *io.PipeWriter, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer func() { _ = output.Close() }() // a pipe's never fails
	err := cmd.Start()
	started <- err
	if err == nil {
		_ = cmd.Wait() // it was told to end, or its last words say why it did
	}
}

// listen reads what the child says, until it has ended: its URL, and the last lines for an error.
func (k *child) listen(output io.Reader, url chan<- string, ended chan<- struct{}) {
	defer close(ended)
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		k.said = append(k.said[max(0, len(k.said)-9):], lines.Text())
		if found := saidURL.FindStringSubmatch(lines.Text()); found != nil {
			select {
			case url <- found[1]:
			default: // said again
			}
		}
	}
	_, _ = io.Copy(io.Discard, output) // behind a line too long to read
}
