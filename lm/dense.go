package lm

import (
	"math"
	"slices"

	"pihc/internal/kernel"
)

// Func describes a problem by callbacks on whole vectors. Rows, Dim and
// Residual are required.
type Func struct {
	Rows, Dim int

	// Residual writes r (Rows) at w (Dim).
	Residual func(r, w []float64)

	// Jacobian writes ∂r_i/∂w_j to jac[i*Dim+j]. Nil means central
	// differences of Residual (2·Dim evaluations each).
	Jacobian func(jac, w []float64)

	// AddCurvature adds Σ r_i ∇²r_i to h (Dim x Dim, row-major, both
	// triangles). Nil means central differences of Jacobian (2·Dim
	// evaluations), symmetrised.
	AddCurvature func(h, r, w []float64)

	// Params is the number of parameters θ that Residual and Jacobian read
	// from Theta; 0 if the solution is not to be differentiated.
	Params int
	// Theta holds the parameters. Change its entries freely between solves.
	Theta []float64
	// ParamJacobian writes ∂r_i/∂θ_k to jac[i*Params+k]. Nil means central
	// differences in Theta.
	ParamJacobian func(jac, w []float64)
}

// Dense is the problem of a [Func], with every interface of this package:
// [SecondOrder], [RowReader], [Accelerated] and [Parametric]. It owns its
// workspace, a few times Rows x Dim numbers, all of it made by the first use of
// each method, and is for one goroutine at a time.
type Dense struct {
	f   Func
	r   []float64 // the residual (Rows)
	jac []float64 // the Jacobian at the point at (Rows x Dim)
	at  []float64

	// Workspace of differences.
	x, probe   []float64 // points beside w (Dim)
	r1, r2     []float64 // residuals there (Rows)
	jac1, jac2 []float64 // Jacobians there (Rows x Dim), made when needed
	pj1, pj2   []float64 // ∂r/∂θ there (Rows x Params), made when needed
}

// NewDense checks f and returns its problem. It panics if Rows or Dim is not
// positive, Residual is nil, or len(Theta) is not Params.
func NewDense(f Func) *Dense {
	switch {
	case f.Rows < 1 || f.Dim < 1:
		panic("lm: Func needs positive Rows and Dim")
	case f.Residual == nil:
		panic("lm: Func needs a Residual")
	case len(f.Theta) != f.Params:
		panic("lm: len(Func.Theta) is not Func.Params")
	}
	m, n := f.Rows, f.Dim
	d := &Dense{
		f: f, r: make([]float64, m), jac: make([]float64, m*n), at: make([]float64, n),
		x: make([]float64, n), probe: make([]float64, n), r1: make([]float64, m), r2: make([]float64, m),
	}
	d.at[0] = math.NaN() // nowhere yet
	return d
}

// Dim returns Func.Dim.
func (d *Dense) Dim() int { return d.f.Dim }

// Params returns Func.Params.
func (d *Dense) Params() int { return d.f.Params }

// differenceStep is the central-difference step for a variable of value v:
// the cube root of eps balances truncation against rounding.
func differenceStep(v float64) float64 { return 6e-6 * max(math.Abs(v), 1e-3) }

// differences writes ∂r_i/∂x_j by central differences of the residual at w to
// jac[i*len(x)+j]. x is a copy of w, or Theta.
func (d *Dense) differences(jac, x, w []float64) {
	n := len(x)
	for j, v := range x {
		h := differenceStep(v)
		x[j] = v + h
		d.f.Residual(d.r1, w)
		up := x[j]
		x[j] = v - h
		d.f.Residual(d.r2, w)
		inv := 1 / (up - x[j])
		x[j] = v
		for i := range d.r1 {
			jac[i*n+j] = (d.r1[i] - d.r2[i]) * inv
		}
	}
}

// jacobian writes the Rows x Dim Jacobian at w.
func (d *Dense) jacobian(jac, w []float64) {
	if d.f.Jacobian != nil {
		d.f.Jacobian(jac, w)
		return
	}
	copy(d.x, w)
	d.differences(jac, d.x, d.x)
}

// paramJacobian writes ∂r/∂θ (Rows x Params) at w.
func (d *Dense) paramJacobian(jac, w []float64) {
	if d.f.ParamJacobian != nil {
		d.f.ParamJacobian(jac, w)
		return
	}
	d.differences(jac, d.f.Theta, w)
}

// linearise evaluates jac at w.
func (d *Dense) linearise(w []float64) {
	d.jacobian(d.jac, w)
	copy(d.at, w)
}

// Normal implements [Problem].
func (d *Dense) Normal(a, g, w []float64) float64 {
	d.f.Residual(d.r, w)
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
			dst := a[j*n : j*n+j+1]
			y0, y1, y2, y3 := x0[:len(dst)], x1[:len(dst)], x2[:len(dst)], x3[:len(dst)]
			for k := range dst {
				dst[k] += (v0*y0[k] + v1*y1[k]) + (v2*y2[k] + v3*y3[k])
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
	d.f.Residual(d.r, w)
	d.linearise(w)
	visit(d.r, d.jac)
}

// HessianParts implements [SecondOrder].
func (d *Dense) HessianParts(a, c, g, w []float64) float64 {
	cost := d.Normal(a, g, w)
	clear(c)
	if d.f.AddCurvature != nil {
		d.f.AddCurvature(c, d.r, w)
		return cost
	}
	n := d.f.Dim
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
	n := d.f.Dim
	h := 1e-2
	at := func(r []float64, t float64) {
		for j := range d.x {
			d.x[j] = w[j] + t*v[j]
		}
		d.f.Residual(r, d.x)
	}
	if !slices.Equal(d.at, w) {
		d.linearise(w) // before r1 and r2, which it may use
	}
	d.f.Residual(d.r, w)
	at(d.r1, h)
	at(d.r2, -h)
	clear(out)
	for i := range d.r {
		axpy(out, ((d.r1[i]-d.r[i])-(d.r[i]-d.r2[i]))/(h*h), d.jac[i*n:(i+1)*n])
	}
}

// PullGradient implements [Parametric]. The mixed derivative uses
// (∂g/∂θ)ᵀλ = d/dε [(∂r/∂θ)ᵀr](w + ελ) at ε = 0, split into
// (∂r/∂θ)ᵀ(Jλ), exact, and a central difference of ∂r/∂θ along λ.
func (d *Dense) PullGradient(thetaBar, w, lambda []float64, residualOnly bool) {
	n, p := d.f.Dim, d.f.Params
	if d.pj1 == nil {
		d.pj1, d.pj2 = make([]float64, len(d.r)*p), make([]float64, len(d.r)*p)
	}
	clear(thetaBar)
	d.linearise(w)
	d.paramJacobian(d.pj1, w)
	for i := range d.r {
		axpy(thetaBar, dot(d.jac[i*n:(i+1)*n], lambda), d.pj1[i*p:(i+1)*p])
	}
	size := norm(lambda)
	if residualOnly || size == 0 {
		return
	}
	h, x := 20*differenceStep(norm(w))/size, d.probe
	copy(x, w)
	axpy(x, h, lambda)
	d.paramJacobian(d.pj1, x)
	axpy(x, -2*h, lambda)
	d.paramJacobian(d.pj2, x)
	d.f.Residual(d.r, w)
	for i, ri := range d.r {
		for k := range p {
			thetaBar[k] += ri * (1 / (2 * h)) * (d.pj1[i*p+k] - d.pj2[i*p+k])
		}
	}
}
