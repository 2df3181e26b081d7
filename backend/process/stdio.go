package process

import (
	"fmt"
	"os"
)

// stdio is one side of a child's standard streams. Our side of a terminal has
// one file for stdin and stdout, and no stderr.
type stdio struct{ stdin, stdout, stderr *os.File }

// pipes makes the streams of a child that has no terminal.
func pipes() (theirs, ours stdio, err error) {
	var ends [3][2]*os.File
	for i := range ends {
		r, w, err := os.Pipe()
		if err != nil {
			for _, e := range ends[:i] {
				closeAll(e[:]...)
			}
			return theirs, ours, fmt.Errorf("make the pipes: %w", err)
		}
		ends[i] = [2]*os.File{r, w}
	}
	return stdio{ends[0][0], ends[1][1], ends[2][1]}, stdio{ends[0][1], ends[1][0], ends[2][0]}, nil
}

func closeAll(files ...*os.File) {
	for _, f := range files {
		f.Close()
	}
}
