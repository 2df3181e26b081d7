package process

import (
	"os"
	"testing"
)

const statTail = " S 1 42 43 34816 42 4194304 100 200 0 0 1 2 3 4 20 0 1 0 98765 1000 50 18446744073709551615"

func TestParseStat(t *testing.T) {
	for _, c := range []struct {
		name, line string
		want       entry
	}{
		{"plain", "42 (sh)" + statTail, entry{identity{42, 98765}, 1, 42, 43, false, "sh"}},
		{"a name to deceive", "42 (a) Z 9 (b))" + statTail, entry{identity{42, 98765}, 1, 42, 43, false, "a) Z 9 (b)"}},
		{"zombie", "7 (x) Z 2 3 4 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5", entry{identity{7, 5}, 2, 3, 4, true, "x"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := parseStat([]byte(c.line))
			if err != nil || got != c.want {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
	for _, line := range []string{"", "42", "42 (sh", "42 (sh) S 1 2", ")(", "x (sh)" + statTail, "42 (sh) S a" + statTail} {
		if got, err := parseStat([]byte(line)); err == nil {
			t.Errorf("%q: %+v", line, got)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("42 (a) Z 9 (b))" + statTail))
	f.Fuzz(func(t *testing.T, line []byte) { _, _ = parseStat(line) })
}

func TestTableHoldsThisProcess(t *testing.T) {
	all, err := table()
	if err != nil {
		t.Fatal(err)
	}
	self, err := entryOf(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		if e.identity == self.identity {
			if e.parent != os.Getppid() {
				t.Errorf("parent %d", e.parent)
			}
			return
		}
	}
	t.Errorf("not among %d processes", len(all))
}

func BenchmarkTable(b *testing.B) {
	for b.Loop() {
		if _, err := table(); err != nil {
			b.Fatal(err)
		}
	}
}
