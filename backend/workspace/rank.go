package workspace

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"unicode"
)

// Weights of a match, so that a match in the name stands before one in the
// folders, and a whole word before scattered letters.
const (
	wholeName   = 4000
	nameBegins  = 3000
	nameHolds   = 2000
	pathHolds   = 1000
	afterLetter = 4 // a letter directly behind the one before
	atWordBegin = 8 // the first letter of a word
)

// rank gives at most limit paths that hold the letters of the query in order,
// best first. Without a query: the shallowest first.
func rank(paths []string, query string, limit int) []string {
	query = strings.ToLower(strings.TrimSpace(query))
	type match struct {
		path  string
		score int
	}
	var found []match
	for _, p := range paths {
		if score, ok := score(p, query); ok {
			found = append(found, match{p, score})
		}
	}
	slices.SortFunc(found, func(a, b match) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(depth(a.path), depth(b.path)),
			cmp.Compare(len(a.path), len(b.path)), cmp.Compare(a.path, b.path))
	})
	out := make([]string, 0, min(limit, len(found)))
	for _, m := range found[:min(limit, len(found))] {
		out = append(out, m.path)
	}
	return out
}

func depth(p string) int { return strings.Count(strings.TrimSuffix(p, "/"), "/") }

// score says how well a path matches a query in lower case.
func score(p, query string) (int, bool) {
	if query == "" {
		return 0, true
	}
	lower := strings.ToLower(p)
	name := path.Base(lower)
	switch {
	case name == query:
		return wholeName, true
	case strings.HasPrefix(name, query):
		return nameBegins, true
	case strings.Contains(name, query):
		return nameHolds, true
	case strings.Contains(lower, query):
		return pathHolds, true
	}
	return scattered(p, query)
}

// scattered looks for the letters of the query in order, anywhere in p.
func scattered(p, query string) (int, bool) {
	wanted := []rune(query)
	total, next, last := 0, 0, -2
	before := '/'
	for i, r := range []rune(p) {
		if next < len(wanted) && unicode.ToLower(r) == wanted[next] {
			total++
			if last == i-1 {
				total += afterLetter
			}
			if strings.ContainsRune("/._- ", before) || unicode.IsUpper(r) && unicode.IsLower(before) {
				total += atWordBegin
			}
			next, last = next+1, i
		}
		before = r
	}
	return total, next == len(wanted)
}
