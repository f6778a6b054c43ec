package train

import (
	"math"

	"pihc/compute"
	"pihc/internal/kernel"
	"pihc/network"
)

// soapGroup is SOAP (Vyas et al. 2024) for one tensor, whose matrices share their eigenbases; a trial: the factors are not in checkpoints.
type soapGroup[T compute.Float] struct {
	lo, hi, rows, cols int
	l, r               []float64
	ql, qr             []T
	g, m, a, b         []T
	n                  int
}

func soapGroups[T compute.Float](layout network.Layout) (all []*soapGroup[T]) {
	for _, t := range layout {
		if len(t.Shape) < 2 {
			continue
		}
		n := len(t.Shape)
		g := &soapGroup[T]{lo: t.Offset, hi: t.Offset + t.Size(), rows: t.Shape[n-2], cols: t.Shape[n-1]}
		g.l, g.r = make([]float64, g.rows*g.rows), make([]float64, g.cols*g.cols)
		g.ql, g.qr = eye[T](g.rows), eye[T](g.cols)
		g.g, g.m = kernel.Aligned[T](t.Size()), kernel.Aligned[T](t.Size())
		g.a, g.b = kernel.Aligned[T](t.Size()), kernel.Aligned[T](max(g.rows*g.rows, g.cols*g.cols, g.rows*g.cols))
		all = append(all, g)
	}
	return all
}

func eye[T compute.Float](n int) []T {
	q := kernel.Aligned[T](n * n)
	for i := range n {
		q[i*n+i] = 1
	}
	return q
}

// toBasis: dst = QLᵀ src QR per part
func (s *soapGroup[T]) toBasis(dst, src []T) {
	parts := len(src) / (s.rows * s.cols)
	kernel.Gemm(s.a, s.cols, parts*s.rows, s.cols, nil, false, kernel.Product[T]{A: src, RowStride: s.cols, ColStride: 1, B: s.qr, BStride: s.cols, K: s.cols}, kernel.Product[T]{})
	for i := range parts {
		o := i * s.rows * s.cols
		kernel.Gemm(dst[o:], s.cols, s.rows, s.cols, nil, false, kernel.Product[T]{A: s.ql, RowStride: 1, ColStride: s.rows, B: s.a[o:], BStride: s.cols, K: s.rows}, kernel.Product[T]{})
	}
}

func (s *soapGroup[T]) fromBasis(dst, src []T, qrT []T) {
	parts := len(src) / (s.rows * s.cols)
	kernel.Gemm(s.a, s.cols, parts*s.rows, s.cols, nil, false, kernel.Product[T]{A: src, RowStride: s.cols, ColStride: 1, B: qrT, BStride: s.cols, K: s.cols}, kernel.Product[T]{})
	for i := range parts {
		o := i * s.rows * s.cols
		kernel.Gemm(dst[o:], s.cols, s.rows, s.cols, nil, false, kernel.Product[T]{A: s.ql, RowStride: s.rows, ColStride: 1, B: s.a[o:], BStride: s.cols, K: s.rows}, kernel.Product[T]{})
	}
}

func orthonormal(q, l []float64, n, times int) {
	z := make([]float64, n*n)
	for range times {
		clear(z)
		for i := range n {
			for k := range n {
				f := l[i*n+k]
				for j := range n {
					z[i*n+j] += f * q[k*n+j]
				}
			}
		}
		for j := range n { // columns, twice against loss of orthogonality
			for range 2 {
				for k := range j {
					d := 0.0
					for i := range n {
						d += z[i*n+k] * z[i*n+j]
					}
					for i := range n {
						z[i*n+j] -= d * z[i*n+k]
					}
				}
			}
			d := 0.0
			for i := range n {
				d += z[i*n+j] * z[i*n+j]
			}
			if d = math.Sqrt(d); d < 1e-150 {
				return
			}
			for i := range n {
				z[i*n+j] /= d
			}
		}
		copy(q, z)
	}
}

func refresh[T compute.Float](q []T, l []float64, n, times int) {
	trace := 0.0
	for i := range n {
		trace += l[i*n+i]
	}
	if trace == 0 {
		return
	}
	x, d := make([]float64, n*n), make([]float64, n*n)
	for i, v := range q {
		x[i], d[i] = float64(v), l[i]/trace
	}
	for i := range n {
		d[i*n+i] += 1e-9
	}
	orthonormal(x, d, n, times)
	for i, v := range x {
		q[i] = T(v)
	}
}

func (s *soapGroup[T]) factors(beta float64) {
	n, size := s.cols, s.rows*s.cols
	parts := len(s.g) / size
	add := func(dst []float64, x []T) {
		for i, v := range x {
			dst[i] = beta*dst[i] + (1-beta)*float64(v)/float64(parts)
		}
	}
	r := s.b[:n*n]
	kernel.Gemm(r, n, n, n, nil, false, kernel.Product[T]{A: s.g, RowStride: 1, ColStride: n, B: s.g, BStride: n, K: parts * s.rows}, kernel.Product[T]{})
	add(s.r, r)
	t := s.a[:size]
	l := s.b[:s.rows*s.rows]
	clear(l)
	for i := range parts {
		g := s.g[i*size:][:size]
		kernel.Transpose(t, s.rows, g, s.rows, s.cols)
		kernel.Gemm(l, s.rows, s.rows, s.rows, nil, true, kernel.Product[T]{A: g, RowStride: s.cols, ColStride: 1, B: t, BStride: s.rows, K: s.cols}, kernel.Product[T]{})
	}
	add(s.l, l)
}

func (s *soapGroup[T]) step(params, first, second, grad []T, scale, rate float64) {
	const b1, b2, bf, every = 0.95, 0.95, 0.95, 10
	s.n++
	for i, g := range grad {
		s.g[i] = T(scale) * g
		first[i] = T(b1)*first[i] + T(1-b1)*s.g[i]
	}
	s.factors(bf)
	if s.n == 1 {
		refresh(s.ql, s.l, s.rows, 30)
		refresh(s.qr, s.r, s.cols, 30)
	}
	s.toBasis(s.m, s.g)
	for i, g := range s.m {
		second[i] = T(b2)*second[i] + T(1-b2)*g*g
	}
	s.toBasis(s.m, first)
	c := rate / (1 - math.Pow(b1, float64(s.n)))
	d := 1 / math.Sqrt(1-math.Pow(b2, float64(s.n)))
	for i, m := range s.m {
		s.m[i] = T(c) * m / (T(d)*T(math.Sqrt(float64(second[i]))) + 1e-8)
	}
	kernel.Transpose(s.b, s.cols, s.qr, s.cols, s.cols)
	s.fromBasis(s.g, s.m, s.b)
	for i, g := range s.g {
		params[i] -= g
	}
	if s.n%every == 0 {
		refresh(s.ql, s.l, s.rows, 1)
		refresh(s.qr, s.r, s.cols, 1)
	}
}
