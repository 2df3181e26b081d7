package kill

import (
	"context"
	"fmt"
	"os"
	"testing"

	"berth/test/program"
)

// runEnv starts the kills; without it the package only says that it does
// nothing, because it takes minutes.
const runEnv = "BERTH_KILL"

// binary is the Berth under test.
var binary string

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "demo-agent" {
		if err := playAgent(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if os.Getenv(runEnv) == "" {
		fmt.Println("the kill test is not run here: make kill")
		os.Exit(0)
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "berth-kill-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if binary, err = program.Build(context.Background(), dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}
