package kernel_test

import (
	"testing"

	"pihc/internal/check"
	"pihc/internal/kernel"
)

// A transpose moves every element and nothing else, for sizes around whole blocks of vectors.
func TestTranspose(t *testing.T) {
	check.Widths(t, func(t *testing.T) {
		rng := check.Rand(21)
		for _, rows := range []int{1, 7, 8, 9, 16, 20} {
			for _, columns := range []int{1, 5, 8, 11, 24} {
				for gap := range 2 {
					stride := rows + 3*gap
					src, dst := check.Guard[float32](rows*columns, 1), check.Guard[float32](columns*stride, 3)
					check.Normal(rng, src.Slice())
					before := check.Normal(rng, dst.Slice())
					want := append([]float32(nil), before...)
					for i := range rows {
						for j := range columns {
							want[j*stride+i] = src.Slice()[i*columns+j]
						}
					}
					kernel.Transpose(dst.Slice(), stride, src.Slice(), rows, columns)
					dst.Verify(t)
					for i, v := range dst.Slice() {
						if v != want[i] {
							t.Fatalf("%d x %d, stride %d: element %d is %g, want %g", rows, columns, stride, i, v, want[i])
						}
					}
				}
			}
		}
	})
}
