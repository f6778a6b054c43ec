package lm

import (
	"math"
	"slices"

	"pihc/internal/kernel"
)

// Dense is a problem stated by callbacks on whole vectors, with every interface of this
// package: [SecondOrder], [RowReader] and [Accelerated]. It holds its workspace, a few times
// rows x dim numbers, and is for one goroutine at a time.
type Dense struct {
	dim                int
	residual, jacobian func(out, w []float64)

	r   []float64 // the residual (rows)
	jac []float64 // the Jacobian at the point at (rows x dim)
	at  []float64

	// Workspace of differences.
	x, probe   []float64 // points beside w (dim)
	r1, r2     []float64 // residuals there (rows)
	jac1, jac2 []float64 // Jacobians there (rows x dim), made when needed
}

// NewDense returns the problem of a residual, which writes r (rows) at w (dim), and its
// Jacobian, which writes ∂r_i/∂w_j to jac[i*dim+j]; nil means central differences of the
// residual (2·dim evaluations each). It panics if rows or dim is not positive or residual
// is nil.
func NewDense(rows, dim int, residual func(r, w []float64), jacobian func(jac, w []float64)) *Dense {
	if rows < 1 || dim < 1 || residual == nil {
		panic("lm: NewDense needs rows, unknowns and a residual")
	}
	d := &Dense{
		dim: dim, residual: residual, jacobian: jacobian,
		r: make([]float64, rows), jac: make([]float64, rows*dim), at: make([]float64, dim),
		x: make([]float64, dim), probe: make([]float64, dim), r1: make([]float64, rows), r2: make([]float64, rows),
	}
	d.at[0] = math.NaN() // nowhere yet
	if jacobian == nil {
		d.jacobian = d.differences
	}
	return d
}

// Dim returns the number of unknowns.
func (d *Dense) Dim() int { return d.dim }

// differenceStep is the central-difference step for a variable of value v:
// the cube root of eps balances truncation against rounding.
func differenceStep(v float64) float64 { return 6e-6 * max(math.Abs(v), 1e-3) }

// differences writes the rows x dim Jacobian at w by central differences.
func (d *Dense) differences(jac, w []float64) {
	copy(d.x, w)
	for j, v := range w {
		h := differenceStep(v)
		d.x[j] = v + h
		d.residual(d.r1, d.x)
		up := d.x[j]
		d.x[j] = v - h
		d.residual(d.r2, d.x)
		inv := 1 / (up - d.x[j])
		d.x[j] = v
		for i := range d.r1 {
			jac[i*len(w)+j] = (d.r1[i] - d.r2[i]) * inv
		}
	}
}

// linearise evaluates jac at w.
func (d *Dense) linearise(w []float64) {
	d.jacobian(d.jac, w)
	copy(d.at, w)
}

// Normal implements [Problem].
func (d *Dense) Normal(a, g, w []float64) float64 {
	d.residual(d.r, w)
	cost := 0.5 * dot(d.r, d.r)
	if g == nil {
		return cost
	}
	d.linearise(w)
	clear(a)
	clear(g)
	accumulate(a, g, d.jac, d.r, len(w))
	kernel.Symmetrize(a, len(w))
	return cost
}

// accumulate adds JᵀJ to the lower triangle of a (n x n, row-major) and Jᵀr
// to g for rows jac (len(r) x n, row-major). Dense problems are small and use
// it instead of the vector kernels: their results then do not depend on the
// processor.
func accumulate(a, g, jac, r []float64, n int) {
	i := 0
	for ; i+4 <= len(r); i += 4 {
		x0, x1 := jac[i*n:(i+1)*n], jac[(i+1)*n:(i+2)*n]
		x2, x3 := jac[(i+2)*n:(i+3)*n], jac[(i+3)*n:(i+4)*n]
		r0, r1, r2, r3 := r[i], r[i+1], r[i+2], r[i+3]
		for j := range n {
			v0, v1, v2, v3 := x0[j], x1[j], x2[j], x3[j]
			g[j] += (v0*r0 + v1*r1) + (v2*r2 + v3*r3)
			for k := range j + 1 {
				a[j*n+k] += (v0*x0[k] + v1*x1[k]) + (v2*x2[k] + v3*x3[k])
			}
		}
	}
	for ; i < len(r); i++ {
		row := jac[i*n : (i+1)*n]
		for j, v := range row {
			g[j] += v * r[i]
			axpy(a[j*n:j*n+j+1], v, row)
		}
	}
}

// EachBlock implements [RowReader] with a single block.
func (d *Dense) EachBlock(w []float64, visit func(r, jac []float64)) {
	d.residual(d.r, w)
	d.linearise(w)
	visit(d.r, d.jac)
}

// HessianParts implements [SecondOrder] by central differences of the Jacobian,
// symmetrised (2·dim evaluations).
func (d *Dense) HessianParts(a, c, g, w []float64) float64 {
	cost := d.Normal(a, g, w)
	clear(c)
	n := d.dim
	if d.jac1 == nil {
		d.jac1, d.jac2 = make([]float64, len(d.jac)), make([]float64, len(d.jac))
	}
	x := d.probe
	copy(x, w)
	for k, v := range w {
		step := 20 * differenceStep(v)
		x[k] = v + step
		d.jacobian(d.jac1, x)
		up := x[k]
		x[k] = v - step
		d.jacobian(d.jac2, x)
		inv := 1 / (up - x[k])
		x[k] = v
		for i, ri := range d.r { // differences of the residual do not touch r
			for j := range n {
				c[k*n+j] += ri * (d.jac1[i*n+j] - d.jac2[i*n+j]) * inv
			}
		}
	}
	for i := range n {
		for j := range i + 1 {
			mean := 0.5 * (c[i*n+j] + c[j*n+i])
			c[i*n+j], c[j*n+i] = mean, mean
		}
	}
	return cost
}

// Curvature implements [Accelerated] by second differences of the residual
// along v: the truncation error is of second order in the step. It uses the
// Jacobian of the last evaluation, if that was at w.
func (d *Dense) Curvature(out, w, v []float64) {
	n := d.dim
	h := 1e-2
	at := func(r []float64, t float64) {
		for j := range d.x {
			d.x[j] = w[j] + t*v[j]
		}
		d.residual(r, d.x)
	}
	if !slices.Equal(d.at, w) {
		d.linearise(w) // before r1 and r2, which it may use
	}
	d.residual(d.r, w)
	at(d.r1, h)
	at(d.r2, -h)
	clear(out)
	for i := range d.r {
		axpy(out, ((d.r1[i]-d.r[i])-(d.r[i]-d.r2[i]))/(h*h), d.jac[i*n:(i+1)*n])
	}
}
