package terminal

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// fill writes numbered lines until the ring has dropped some of them.
func fill(r *ring) {
	for i := 0; r.end < ringBytes+3*blockBytes; i++ {
		r.write(fmt.Appendf(nil, "line %d\r\n", i))
	}
}

func TestRingKeepsTheNewest(t *testing.T) {
	var r ring
	fill(&r)
	if kept := r.end - r.first; kept > ringBytes || kept < ringBytes-blockBytes {
		t.Errorf("keeps %d bytes", kept)
	}
	for _, c := range []struct {
		name        string
		after       int64
		least, most int64 // where the data may begin
	}{
		{"new reader", 0, r.first, r.first + alignBytes},
		{"fell behind", 1, r.end - tailBytes, r.end - tailBytes + alignBytes},
		{"within", r.end - 5, r.end - 5, r.end - 5},
		{"at the oldest", r.first, r.first, r.first},
		{"at the end", r.end, r.end, r.end},
		{"beyond the end", r.end + 100, r.end, r.end},
	} {
		t.Run(c.name, func(t *testing.T) {
			from, data := r.read(c.after, pieceBytes)
			if from < c.least || from > c.most {
				t.Errorf("begins at %d, want %d to %d", from, c.least, c.most)
			}
			if from != c.after && len(data) > 0 && !bytes.HasPrefix(data, []byte("line ")) {
				t.Errorf("begins within a line: %q", data[:20])
			}
			if want := min(int64(pieceBytes), r.end-from); int64(len(data)) != want {
				t.Errorf("%d bytes, want %d", len(data), want)
			}
		})
	}
}

func TestRingCutsNoCharacter(t *testing.T) {
	var r ring
	// Three bytes do not divide a block.
	r.write([]byte(strings.Repeat("日", (ringBytes+2*blockBytes)/3)))
	if _, data := r.read(0, 300); !utf8.Valid(data) {
		t.Errorf("begins with %x", data[:6])
	}
}

// What is read piece by piece is what was written, whatever the pieces.
func TestRingGivesWhatWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r ring
		var all []byte
		next := int64(0)
		var got []byte
		for range rapid.IntRange(1, 30).Draw(t, "writes") {
			piece := bytes.Repeat([]byte{byte(len(all))}, rapid.IntRange(0, blockBytes+10).Draw(t, "size"))
			all = append(all, piece...)
			r.write(piece)
			if rapid.Bool().Draw(t, "read") {
				from, data := r.read(next, rapid.IntRange(1, 2*blockBytes).Draw(t, "limit"))
				if from != next {
					t.Fatalf("begins at %d, not %d", from, next)
				}
				got = append(got, data...)
				next += int64(len(data))
			}
		}
		if !bytes.Equal(got, all[:len(got)]) || r.end != int64(len(all)) {
			t.Fatal("not what was written")
		}
	})
}
