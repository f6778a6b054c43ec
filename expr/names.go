package expr

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"pihc/internal/words"
)

// Check returns a *SyntaxError for the first variable of e, in the order of
// its text, that known does not list, with the nearest listed name as hint.
func (e *Expr) Check(known []string) error {
	var first *Expr
	e.Walk(make(map[*Expr]bool), func(x *Expr) {
		if x.op == opVar && !slices.Contains(known, x.name) && (first == nil || x.src == first.src && x.pos < first.pos) {
			first = x
		}
	})
	if first == nil {
		return nil
	}
	hint := nearest(first.name, known)
	if hint == "" && len(known) > 0 {
		sorted := slices.Clone(known)
		slices.Sort(sorted)
		hint = "known names are " + words.List(slices.Compact(sorted))
	}
	return &SyntaxError{Src: first.src, Pos: first.pos, Msg: fmt.Sprintf("unknown name %s", first.name), Hint: hint}
}

// nearest returns "did you mean x?" for the known name closest to name, if one
// is close: at most a third of the letters changed, and always one or two.
func nearest(name string, known []string) string {
	length := utf8.RuneCountInString(name)
	best, found := max(2, length/3)+1, ""
	for _, k := range slices.Sorted(slices.Values(known)) {
		if d := editDistance(name, k); d < best && d < max(length, utf8.RuneCountInString(k)) {
			best, found = d, k
		}
	}
	if found == "" {
		return ""
	}
	return fmt.Sprintf("did you mean %s?", found)
}

// editDistance counts the insertions, deletions, replacements and swaps of
// neighbours between a and b (optimal string alignment), ignoring case.
func editDistance(a, b string) int {
	x, y := []rune(strings.ToLower(a)), []rune(strings.ToLower(b))
	before, above := make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range above {
		above[j] = j
	}
	for i := range x {
		row := make([]int, len(y)+1)
		row[0] = i + 1
		for j := range y {
			cost := 1
			if x[i] == y[j] {
				cost = 0
			}
			row[j+1] = min(above[j]+cost, above[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, above = above, row
	}
	return above[len(y)]
}

// usage shows how a function is written.
func usage(o op) string {
	if o == opWhere {
		return "write where(condition, then, else)"
	}
	return "write " + ops[o].text + "(" + strings.Join([]string{"x", "y"}[:ops[o].arity], ", ") + ")"
}
