package kill

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// leastPoints is the least number of points that a turn must have.
const leastPoints = 20

// script is what is done while the program waits for its death.
type script string

// The scripts.
const (
	scriptHello  script = "hello"  // one message
	scriptSecond script = "second" // one message, and when it is answered another
	scriptQueue  script = "queue"  // a second message while the first is being answered
	scriptAsk    script = "ask"    // a message whose work needs a permission, which is given
	scriptStop   script = "stop"   // a message that is stopped while it is being answered
)

// strike is one death: at the n-th passing of a point, while a script runs.
type strike struct {
	point  string
	n      string // "" for the first time, ":2" for the second
	script script
	// after is a point at which an earlier death left something to recover.
	after string
}

func (s strike) name() string {
	name := s.point + s.n + " " + string(s.script)
	if s.after != "" {
		name += " after " + s.after
	}
	return name
}

// strikes are all deaths for the points in the sources. A point of an unknown
// family gets the simplest script, and fails if that never passes it.
func strikes(points []string) []strike {
	var all []strike
	for _, p := range points {
		family, _, _ := strings.Cut(p, ".")
		switch family {
		case "stop":
			all = append(all, strike{point: p, script: scriptStop})
		case "request":
			all = append(all, strike{point: p, script: scriptAsk})
		case "recover":
			all = append(all,
				strike{point: p, script: scriptHello, after: "delivery.accepted"},
				strike{point: p, script: scriptHello, after: "delivery.writing"})
		case "accept":
			all = append(all, strike{point: p, script: scriptHello}, strike{point: p, n: ":2", script: scriptQueue})
		case "turn", "delivery":
			all = append(all, strike{point: p, script: scriptHello}, strike{point: p, n: ":2", script: scriptSecond})
		default:
			all = append(all, strike{point: p, script: scriptHello})
		}
	}
	return all
}

var pointCall = regexp.MustCompile(`fault\.Point\("([^"]+)"\)`)

// sourcePoints finds the points named in the backend's sources.
func sourcePoints(t *testing.T) []string {
	t.Helper()
	var points []string
	seen := map[string]bool{}
	err := filepath.WalkDir(filepath.Join("..", "..", "backend"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, m := range pointCall.FindAllStringSubmatch(string(source), -1) {
			if seen[m[1]] {
				t.Errorf("the point %s stands in two places", m[1])
			}
			seen[m[1]] = true
			points = append(points, m[1])
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(points) < leastPoints {
		t.Errorf("%d points are named, at least %d are wanted", len(points), leastPoints)
	}
	return points
}
