package lm

import "fmt"

// enum is the table of an enumeration, from which it prints.
type enum[E ~int] struct {
	kind  string
	names []string
}

func (t enum[E]) print(e E) string {
	if e < 0 || int(e) >= len(t.names) {
		return fmt.Sprintf("lm: unknown %s %d", t.kind, int(e))
	}
	return t.names[e]
}
