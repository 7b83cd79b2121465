package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"legible.sh/mutex/internal/cli"
	"legible.sh/mutex/internal/fence"
	"legible.sh/mutex/internal/private"
)

const checkLong = `check compares N with the highest fence kept in FILE or behind URL. A lower one is refused; any other is kept, in the
same step. It is for the start of work, and for scripts that ask between two writes. What is written after it can
still come late: where guard or the resource itself can hold the line, let them.

URL is an object that several machines share: one with a strong ETag that takes PUT with If-Match and If-None-Match,
as object stores and WebDAV do.`

const checkExit = `0       not stale, and kept
76      stale: a higher fence was here
1       an error: it could not be compared or kept
2       wrong usage`

func fenceCheck() *cobra.Command {
	var wait = cli.Duration(defaultWait)
	var headers string
	cmd := &cobra.Command{
		Use: "check FILE|URL [N] [flags]", Short: "Keep a fence, unless it is stale", DisableFlagsInUseLine: true,
		Args:        cobra.RangeArgs(1, 2),
		Long:        checkLong,
		Annotations: map[string]string{cli.NoteAlone: "yes", cli.NoteEnvironment: fenceEnv, cli.NoteExit: checkExit},
		Example: `  mutex fence check /srv/site.fence 42 && ./write.sh
  mutex run site -- sh -c 'mutex fence check https://bucket.example/site.fence && ./write.sh'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := fenceOf(args[1:])
			if err != nil {
				return err
			}
			return stale(admit(cmd.Context(), args[0], n, wait.D(), headers))
		},
	}
	cmd.Flags().Var(&wait, "wait", "how long to wait for a guard's command to end; 0 fails at once")
	headerFlag(cmd, &headers)
	return cmd
}

func admit(ctx context.Context, place string, n int64, wait time.Duration, headers string) error {
	if fence.IsURL(place) {
		o, err := object(place, headers)
		if err != nil {
			return err
		}
		return o.Admit(ctx, n)
	}
	f, err := openFence(ctx, place, wait)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Admit(n)
}

func fenceShow() *cobra.Command {
	var headers string
	cmd := &cobra.Command{
		Use: "show FILE|URL [flags]", Short: "Print the highest fence kept", DisableFlagsInUseLine: true, Args: cobra.ExactArgs(1),
		Long:        `show prints the highest fence kept in FILE or behind URL, 0 if there is none. It changes nothing.`,
		Annotations: map[string]string{cli.NoteAlone: "yes"},
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := highest(cmd.Context(), args[0], headers)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), n)
			return err
		},
	}
	headerFlag(cmd, &headers)
	return cmd
}

func highest(ctx context.Context, place, headers string) (int64, error) {
	if !fence.IsURL(place) {
		return fence.Read(place)
	}
	o, err := object(place, headers)
	if err != nil {
		return 0, err
	}
	return o.Highest(ctx)
}

func headerFlag(cmd *cobra.Command, file *string) {
	cmd.Flags().StringVar(file, "header-file", "", "a `file` with headers to send to URL, such as Authorization, one a line; only you may be able to read it")
}

// maxHeaders bounds what is read of a file with headers.
const maxHeaders = 64 << 10

// object is the fence behind a URL, with the headers that a private file has.
func object(url, headers string) (fence.Object, error) {
	o := fence.Object{URL: url, Header: http.Header{}}
	if headers == "" {
		return o, nil
	}
	f, err := private.Open(headers)
	if err != nil {
		return o, err
	}
	defer f.Close()
	lines := bufio.NewScanner(io.LimitReader(f, maxHeaders))
	for lines.Scan() {
		name, value, ok := strings.Cut(lines.Text(), ":")
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		if !ok || strings.ContainsAny(name, " \t") {
			return o, cli.UsageError(fmt.Errorf("%s: a line is no header: write Name: value", headers))
		}
		o.Header.Add(name, strings.TrimSpace(value))
	}
	return o, lines.Err()
}
