package kernel_test

import (
	"math"
	"testing"

	"pihc/internal/check"
	"pihc/internal/kernel"
)

// randomStencils covers a field of p points with stencils of 0 to 7 entries.
func randomStencils(p int) *kernel.Stencils {
	rng := check.Rand(11)
	s := &kernel.Stencils{Start: []int32{0}, Which: make([]uint16, p)}
	const reach = 3
	for entries := range 8 {
		for range entries {
			s.Offset = append(s.Offset, int32(rng.IntN(2*reach+1)-reach))
			s.Coef = append(s.Coef, rng.NormFloat64())
		}
		s.Start = append(s.Start, int32(len(s.Coef)))
	}
	for q := range s.Which {
		if q >= reach && q < p-reach {
			s.Which[q] = uint16(rng.IntN(8))
		}
	}
	return s
}

// The written specification: every product and sum as the comment of
// GatherStencils has it.
func gatherReference(dst, basis []float64, n int, points []int32, s *kernel.Stencils) {
	for r, p := range points {
		for j := range n {
			dst[r*n+j] = 0
			k := s.Which[p]
			for e := s.Start[k]; e < s.Start[k+1]; e++ {
				dst[r*n+j] += s.Coef[e] * basis[(int(p)+int(s.Offset[e]))*n+j]
			}
		}
	}
}

func TestGatherStencils(t *testing.T) {
	check.Widths(t, func(t *testing.T) {
		const p = 150
		s := randomStencils(p)
		rng := check.Rand(12)
		for _, m := range []int{0, 1, 63, 64, 65, 200} {
			points := make([]int32, m)
			for r := range points {
				points[r] = int32(rng.IntN(p))
			}
			for n := 1; n <= 70; n++ {
				basis := check.Guard[float64](p*n, n%8)
				check.Normal(rng, basis.Slice())
				got, want := check.Guard[float64](m*n, n%5), make([]float64, m*n)
				for i := range got.Slice() {
					got.Slice()[i] = math.NaN() // what was there must not matter
				}
				kernel.GatherStencils(got.Slice(), basis.Slice(), n, points, s)
				got.Verify(t)
				gatherReference(want, basis.Slice(), n, points, s)
				check.Close(t, got.Slice(), want, 1e-15, 0)
			}
		}
	})
}

// Rows of a float32 basis are those of the same numbers in float64, rounded.
func TestGatherStencils32(t *testing.T) {
	check.Widths(t, func(t *testing.T) {
		const p = 150
		s := randomStencils(p)
		rng := check.Rand(14)
		for _, m := range []int{0, 1, 64, 65} {
			points := make([]int32, m)
			for r := range points {
				points[r] = int32(rng.IntN(p))
			}
			for n := 1; n <= 70; n++ {
				basis, wide := check.Guard[float32](p*n, n%8), make([]float64, p*n)
				check.Normal(rng, basis.Slice())
				kernel.Widen(wide, basis.Slice())
				got, rounded, want := check.Guard[float32](m*n, n%5), make([]float64, m*n), make([]float64, m*n)
				for i := range got.Slice() {
					got.Slice()[i] = float32(math.NaN())
				}
				kernel.GatherStencils32(got.Slice(), basis.Slice(), n, points, s)
				got.Verify(t)
				gatherReference(want, wide, n, points, s)
				kernel.Widen(rounded, got.Slice())
				check.Close(t, rounded, want, 0x1p-24, 1e-15)
			}
		}
	})
}

func TestApplyStencil(t *testing.T) {
	check.Widths(t, func(t *testing.T) {
		rng := check.Rand(13)
		for _, entries := range []int{0, 1, 3, 7} {
			offset, coef := make([]int32, entries), make([]float64, entries)
			for e := range offset {
				offset[e], coef[e] = int32(rng.IntN(11)-5), rng.NormFloat64()
			}
			for n := range 70 {
				const first = 5
				u := check.Guard[float64](n+10, n%8)
				check.Normal(rng, u.Slice())
				got, want := check.Guard[float64](n, n%7), make([]float64, n)
				kernel.ApplyStencil(got.Slice(), u.Slice(), first, offset, coef)
				got.Verify(t)
				for i := range want {
					for e, o := range offset {
						want[i] += coef[e] * u.Slice()[first+int(o)+i]
					}
				}
				check.Close(t, got.Slice(), want, 1e-15, 0)
			}
		}
	})
}

func TestStencilPanics(t *testing.T) {
	check.Widths(t, func(t *testing.T) {
		s := &kernel.Stencils{Start: []int32{0, 1}, Offset: []int32{1}, Coef: []float64{1}, Which: make([]uint16, 4)}
		for name, f := range map[string]func(){
			"beyond the end":  func() { kernel.GatherStencils(make([]float64, 16), make([]float64, 64), 16, []int32{3}, s) },
			"not a point":     func() { kernel.GatherStencils(make([]float64, 16), make([]float64, 64), 16, []int32{4}, s) },
			"short output":    func() { kernel.GatherStencils(make([]float64, 15), make([]float64, 64), 16, []int32{1}, s) },
			"short basis":     func() { kernel.GatherStencils(make([]float64, 16), make([]float64, 48), 16, []int32{1}, s) },
			"before the line": func() { kernel.ApplyStencil(make([]float64, 20), make([]float64, 40), 0, []int32{-1}, []float64{1}) },
			"after the line":  func() { kernel.ApplyStencil(make([]float64, 20), make([]float64, 40), 21, []int32{0}, []float64{1}) },
		} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s: no panic", name)
					}
				}()
				f()
			}()
		}
	})
}
