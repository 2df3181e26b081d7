package process

import (
	"fmt"
	"os"
)

// pipes makes the pipes for stdin, stdout and stderr.
func pipes() (theirs, ours [3]*os.File, err error) {
	for i := range theirs {
		r, w, err := os.Pipe()
		if err != nil {
			closeAll(theirs[:i]...)
			closeAll(ours[:i]...)
			return theirs, ours, fmt.Errorf("make the pipes: %w", err)
		}
		theirs[i], ours[i] = w, r
		if i == 0 {
			theirs[i], ours[i] = r, w
		}
	}
	return theirs, ours, nil
}

func closeAll(files ...*os.File) {
	for _, f := range files {
		f.Close()
	}
}
