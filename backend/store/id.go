package store

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"strings"
	"time"
)

// crockford keeps the order of the bytes it encodes.
var crockford = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// NewID makes an opaque id that sorts by time of making: kind, "_", 48 bits
// of milliseconds and 80 random bits.
func NewID(kind string) string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], uint64(time.Now().UnixMilli())<<16)
	if _, err := rand.Read(b[6:]); err != nil {
		panic("no random numbers: " + err.Error())
	}
	return kind + "_" + crockford.EncodeToString(b[:])
}

// ValidID says whether id is one of that kind, as far as its form tells.
func ValidID(kind, id string) bool {
	rest, ok := strings.CutPrefix(id, kind+"_")
	if !ok || len(rest) != 26 {
		return false
	}
	for _, c := range rest {
		if !strings.ContainsRune("0123456789abcdefghjkmnpqrstvwxyz", c) {
			return false
		}
	}
	return true
}

// Now is the present in the form in which times are stored and sent: UTC,
// whole milliseconds.
func Now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }
