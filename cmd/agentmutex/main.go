// Command agentmutex takes, keeps and gives back leases for the processes of one machine, with no server: what is
// held stands in a directory of plain files.
package main

import (
	"context"
	"os"

	"legible.sh/mutex/internal/cli"
	"legible.sh/mutex/internal/supervise"
)

func main() {
	supervise.WatcherMain()
	os.Exit(run(os.Args[1:]))
}

func run(args []string) int {
	t := &target{}
	s := cli.StandardStreams()
	code := cli.Main(context.Background(), t.flavour(), args, s)
	t.close()
	return code
}
