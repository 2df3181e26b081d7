// Command berth works with many coding agents at once: a window (built with
// the tag desktop), and the commands of package command.
package main

import (
	"os"

	"berth/command"
)

func main() { os.Exit(command.Main(window, os.Args[1:])) }
