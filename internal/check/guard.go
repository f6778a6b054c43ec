package check

import (
	"math"
	"testing"
)

const band = 64 // guard elements on either side

// Guarded is a buffer between two bands of NaN: a read outside poisons a result,
// a write outside is found by Verify.
type Guarded[T Float] struct {
	all    []T
	offset int
	n      int
}

// Guard returns a guarded buffer of n zeros that starts shift elements (0 to 15)
// off the alignment the allocator gave.
func Guard[T Float](n, shift int) *Guarded[T] {
	g := &Guarded[T]{all: make([]T, n+2*band+16), offset: band + shift, n: n}
	for i := range g.all {
		if i < g.offset || i >= g.offset+n {
			g.all[i] = T(math.NaN())
		}
	}
	return g
}

// Slice returns the buffer. Its capacity ends with it.
func (g *Guarded[T]) Slice() []T { return g.all[g.offset : g.offset+g.n : g.offset+g.n] }

// Verify fails the test if a guard element was written.
func (g *Guarded[T]) Verify(t testing.TB) {
	t.Helper()
	for i, v := range g.all {
		if (i < g.offset || i >= g.offset+g.n) && v == v {
			t.Errorf("element %d of a buffer of %d was written: %v", i-g.offset, g.n, v)
		}
	}
}
