package lm

import (
	"fmt"
	"slices"
	"strings"
)

// enum is the table of an enumeration, from which it prints and parses.
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

func (t enum[E]) parse(name string) (E, error) {
	i := slices.Index(t.names, name)
	if i < 0 {
		return 0, fmt.Errorf("lm: %s %q: want one of %s", t.kind, name, strings.Join(t.names, ", "))
	}
	return E(i), nil
}
