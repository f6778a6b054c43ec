package lm

import "fmt"

// nameOf returns that of a value from 0 on.
func nameOf[E ~int](e E, names ...string) string {
	if e < 0 || int(e) >= len(names) {
		return fmt.Sprintf("lm: unknown %T %d", e, int(e))
	}
	return names[e]
}
