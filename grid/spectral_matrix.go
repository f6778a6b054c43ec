package grid

import (
	"math"
	"slices"

	"pihc/internal/fft"
)

// denseTables are the matrices of a dense for slices of nx x ny points. Every
// operator is a convolution over the slice. With its values r(x, y) on a unit
// impulse it is the sum of
//
//   - a convolution along x alone and one along y alone, where r vanishes off the
//     axes (derivatives, the Laplacian): two matrices;
//   - otherwise, after a real transform along x, a convolution along y for every
//     mode k, with the kernel a_k + i b_k: a matrix for each of the two parts that
//     does not vanish, and the transform back.
//
// A convolution along y makes the last point first: then the matrix is
// h[j+k], and the 2 ny - 1 values of h are all of it.
type denseTables struct {
	nx, ny  int
	forward []float32 // (nx, nx): row r is a part of mode[r]
	mode    []int
	parts   []densePart
	along   [2][]denseAxis // convolutions along x, along y
	// wide[a] holds the matrices of along[a] row by row: (points, len(along[a]), points).
	wide [2][]float32
}

// denseAxis is the convolution along one axis of an operator.
type denseAxis struct {
	operator int
	add      bool // to the rows that another part has written
}

// densePart is one part of the kernels along y of an operator.
type densePart struct {
	operator int
	add      bool
	hankel   []float32 // (nx/2+1, 2 ny - 1)
	inverse  []float32 // (nx, nx): points from rows of the transform
}

// negligible is the size of rounding errors in a unit impulse's values, relative
// to the largest.
const negligible = 1e-11

// denseOperator is an operator whose rows are set or, if add, have its rows times
// factor added.
type denseOperator struct {
	*multiplier
	add    bool
	factor float64
}

func newDenseTables(shape []int, ops []denseOperator) *denseTables {
	t := &denseTables{nx: shape[0], ny: 1}
	if len(shape) == 2 {
		t.ny = shape[1]
	}
	var real, imag []float32 // inverse transforms of the parts a and b
	t.forward, real, imag = t.transforms()
	var rows [2][][]float32 // of the matrices along each axis
	for o, op := range ops {
		r := op.impulse()
		if op.add {
			for i := range r {
				r[i] *= op.factor
			}
		}
		largest, off := 0.0, 0.0
		for p, v := range r {
			largest = max(largest, math.Abs(v))
			if p/t.ny != 0 && p%t.ny != 0 {
				off = max(off, math.Abs(v))
			}
		}
		written := op.add
		if off <= negligible*largest {
			kernels := [2][]float64{make([]float64, t.nx), make([]float64, t.ny)}
			for x := range kernels[0] {
				kernels[0][x] = r[x*t.ny]
			}
			copy(kernels[1][1:], r[1:t.ny]) // the point itself is in the first
			for a, k := range kernels {
				if slices.ContainsFunc(k, func(v float64) bool { return math.Abs(v) > negligible*largest }) {
					t.along[a] = append(t.along[a], denseAxis{o, written})
					rows[a] = append(rows[a], circulant(k))
					written = true
				}
			}
			continue
		}
		for b, kernel := range t.kernels(r) {
			if !slices.ContainsFunc(kernel, func(v float64) bool { return math.Abs(v) > negligible*largest*float64(t.nx) }) {
				continue
			}
			part := densePart{operator: o, add: written, hankel: t.hankel(kernel), inverse: real}
			if b == 1 {
				part.inverse = imag
			}
			t.parts = append(t.parts, part)
			written = true
		}
	}
	for a, n := range []int{t.nx, t.ny} {
		for p := range n {
			for _, m := range rows[a] {
				t.wide[a] = append(t.wide[a], m[p*n:(p+1)*n]...)
			}
		}
	}
	return t
}

// impulse returns the operator's values on a slice that is 1 at its first point.
func (o *multiplier) impulse() []float64 {
	w := o.space.workspaces.take(1, o.space.newWorkspace)
	defer o.space.workspaces.give(1, w)
	clear(w.values)
	w.values[0] = 1
	w.transform.Forward(w.re, w.im, w.values)
	o.multiply(w, 1, false, false)
	w.transform.Inverse(w.values, w.timesRe, w.timesIm)
	return slices.Clone(w.values)
}

// circulant returns the matrix (n, n) of the convolution with k.
func circulant(k []float64) []float32 {
	n := len(k)
	m := make([]float32, n*n)
	for i := range n {
		for j := range n {
			m[i*n+j] = float32(k[(i-j+n)%n])
		}
	}
	return m
}

// transforms returns the real transform along x as a matrix, rows being the real
// and imaginary parts of the modes 0..nx/2 that need not vanish, and the matrices
// that take a_k times these rows, and b_k times these rows, back to points.
func (t *denseTables) transforms() (forward, real, imag []float32) {
	n := t.nx
	forward, real, imag = make([]float32, n*n), make([]float32, n*n), make([]float32, n*n)
	row := 0
	for k := range n/2 + 1 {
		both := k > 0 && 2*k < n
		c := 1 / float64(n)
		if both {
			c *= 2
		}
		for x := range n {
			sin, cos := math.Sincos(2 * math.Pi * float64(k*x%n) / float64(n))
			forward[row*n+x] = float32(cos)
			real[x*n+row], imag[x*n+row] = float32(c*cos), float32(-c*sin)
			if both {
				forward[(row+1)*n+x] = float32(-sin)
				real[x*n+row+1], imag[x*n+row+1] = float32(-c*sin), float32(-c*cos)
			}
		}
		t.mode = append(t.mode, k)
		row++
		if both {
			t.mode = append(t.mode, k)
			row++
		}
	}
	return forward, real, imag
}

// kernels returns a_k and b_k, the transforms along x of r, each (nx/2+1, ny).
func (t *denseTables) kernels(r []float64) [2][]float64 {
	re, im := slices.Clone(r), make([]float64, len(r))
	fft.Forward(re, im, t.nx)
	modes := t.nx/2 + 1
	return [2][]float64{re[:modes*t.ny], im[:modes*t.ny]}
}

// hankel lays the kernels along y out so that row j of the convolution, counted
// from the last point down, has its factors in order from j on.
func (t *denseTables) hankel(kernel []float64) []float32 {
	n := t.ny
	out := make([]float32, 0, len(kernel)/n*(2*n-1))
	for k := range len(kernel) / n {
		for i := range 2*n - 1 {
			out = append(out, float32(kernel[k*n+(2*n-1-i)%n]))
		}
	}
	return out
}
