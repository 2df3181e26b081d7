package fault

import (
	"os"
	"os/exec"
	"testing"
)

func TestPointCounts(t *testing.T) {
	for _, c := range []struct {
		env    string
		passes int
		killed int // on which pass, 0 never
	}{
		{"", 3, 0},
		{"a", 3, 1},
		{"a:2", 3, 2},
		{"a:4", 3, 0},
		{"b", 3, 0},
		{"a:0", 3, 0},
		{"a:x", 3, 0},
		{":1", 3, 0},
	} {
		t.Run(c.env, func(t *testing.T) {
			before, old := kill, armed.Load()
			defer func() { kill = before; armed.Store(old) }()
			at, pass := 0, 0
			kill = func() { at = pass }
			armed.Store(parse(c.env))
			for pass = 1; pass <= c.passes; pass++ {
				Point("a")
			}
			if at != c.killed {
				t.Errorf("killed on pass %d, want %d", at, c.killed)
			}
		})
	}
}

// TestPointDies proves that the whole program is gone and that nothing after
// the point ran.
func TestPointDies(t *testing.T) {
	if os.Getenv(Env) == "here" {
		Point("here")
		os.Exit(0)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestPointDies$")
	cmd.Env = append(os.Environ(), Env+"=here")
	if err := cmd.Run(); err == nil {
		t.Fatal("the program lived past the armed point")
	}
}
