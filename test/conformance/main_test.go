package conformance

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"sort"
	"sync"
	"testing"

	"berth/backend/provider/demo"
	"berth/test/program"
)

// runEnv starts the real agents; without it the package only says that it
// does nothing, because it takes minutes and needs the agents installed.
const runEnv = "BERTH_CONFORMANCE"

// traceEnv prints the agents' protocol lines with -v.
const traceEnv = "BERTH_TRACE"

// passed counts the cases that held, by route and agent: "driver/claude".
var passed = struct {
	sync.Mutex
	cases map[string]int
}{cases: map[string]int{}}

func count(group string) {
	passed.Lock()
	defer passed.Unlock()
	passed.cases[group]++
}

// TestMain is also the demo agent, as Berth's executable is.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "demo-agent" {
		if err := demo.Main(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	flag.Parse()
	if os.Getenv(runEnv) == "" {
		fmt.Println("conformance with the real agents is not run here: make conformance")
		os.Exit(0)
	}
	os.Exit(run(m))
}

// binary is the Berth of the program's cases.
var binary string

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "berth-conformance-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if binary, err = program.Build(context.Background(), dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if whole() {
		if err := enough(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	return code
}

// whole says whether nothing was left out by a flag.
func whole() bool {
	return flag.Lookup("test.run").Value.String() == "" && flag.Lookup("test.skip").Value.String() == "" &&
		flag.Lookup("test.list").Value.String() == ""
}

// enough prints the counts and compares them with the recorded ones.
func enough() error {
	data, err := os.ReadFile("minimum.json")
	if err != nil {
		return fmt.Errorf("read the recorded number of cases: %w", err)
	}
	var least map[string]int
	if err := json.Unmarshal(data, &least); err != nil {
		return fmt.Errorf("read the recorded number of cases: %w", err)
	}
	passed.Lock()
	defer passed.Unlock()
	var groups []string
	for g := range passed.cases {
		groups = append(groups, g)
	}
	sort.Strings(groups)
	for _, g := range groups {
		fmt.Printf("conformance: %-20s %3d cases held, at least %d recorded\n", g, passed.cases[g], least[g])
	}
	for g, n := range least {
		if passed.cases[g] < n {
			return fmt.Errorf("conformance: %s held %d cases, fewer than the %d recorded in minimum.json", g, passed.cases[g], n)
		}
	}
	return nil
}
