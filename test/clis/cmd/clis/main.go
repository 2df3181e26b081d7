// Command clis installs the agents that conformance runs against, if they
// are missing, and prints their directory.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"berth/test/clis"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	dir, err := clis.Install(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "clis:", err)
		os.Exit(1)
	}
	fmt.Println(dir)
}
