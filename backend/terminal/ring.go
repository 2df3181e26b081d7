package terminal

import (
	"bytes"
	"unicode/utf8"
)

// Bounds of what is kept of a terminal's output.
const (
	// ringBytes are some 20,000 lines: more than anyone scrolls back.
	ringBytes = 2 << 20
	// blockBytes are allocated, and dropped, at once.
	blockBytes = 64 << 10
	// tailBytes is what a reader that fell behind the ring gets: what is on
	// the screen now, not two megabytes that are behind again when they are
	// there.
	tailBytes = 128 << 10
	// alignBytes is how far a cut is moved to the start of a line, so that no
	// escape sequence begins in its middle.
	alignBytes = 4 << 10
)

// ring keeps the newest output. Each byte has a position, counted from 0, that
// never changes. It takes memory as output comes.
type ring struct {
	blocks [][]byte // all full but the last
	first  int64    // position of the first byte of the first block
	end    int64    // position after the last byte
}

func (r *ring) write(p []byte) {
	for len(p) > 0 {
		last := len(r.blocks) - 1
		if last < 0 || len(r.blocks[last]) == blockBytes {
			r.blocks = append(r.blocks, make([]byte, 0, blockBytes))
			last++
		}
		n := min(len(p), blockBytes-len(r.blocks[last]))
		r.blocks[last] = append(r.blocks[last], p[:n]...)
		r.end += int64(n)
		p = p[n:]
	}
	if drop := len(r.blocks) - ringBytes/blockBytes; drop > 0 {
		r.blocks = append(r.blocks[:0], r.blocks[drop:]...)
		r.first += int64(drop) * blockBytes
	}
}

// read copies at most limit bytes from position after on, and says where they
// begin: later than after when these bytes are not kept any more, and at the
// end when after lies beyond it.
func (r *ring) read(after int64, limit int) (from int64, data []byte) {
	from = min(after, r.end)
	if from < r.first {
		oldest := r.first
		if after > 0 { // not a reader that just came
			oldest = max(oldest, r.end-tailBytes)
		}
		from = r.align(oldest)
	}
	for len(data) < limit && from+int64(len(data)) < r.end {
		at := from + int64(len(data)) - r.first
		block := r.blocks[at/blockBytes][at%blockBytes:]
		data = append(data, block[:min(len(block), limit-len(data))]...)
	}
	return from, data
}

// align moves a position to the next start of a line, or at least of a
// character.
func (r *ring) align(from int64) int64 {
	_, ahead := r.read(from, alignBytes)
	if i := bytes.IndexByte(ahead, '\n'); i >= 0 {
		return from + int64(i) + 1
	}
	for i := range min(len(ahead), utf8.UTFMax) {
		if utf8.RuneStart(ahead[i]) {
			return from + int64(i)
		}
	}
	return from
}
