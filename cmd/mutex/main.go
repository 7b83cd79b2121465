// Command mutex is the server and its command line: named leases over HTTP, each with a fencing token.
package main

import (
	"context"
	"os"

	"legible.sh/mutex/internal/cli"
	"legible.sh/mutex/internal/supervise"
)

func main() {
	supervise.WatcherMain()
	os.Exit(cli.Main(context.Background(), flavour(), os.Args[1:], cli.StandardStreams()))
}
