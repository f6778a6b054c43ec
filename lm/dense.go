package lm

import (
	"math"
	"slices"
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
// [SecondOrder], [RowReader], [Residuals], [Accelerated] and [Parametric]. It
// owns its workspace, a few times Rows x Dim numbers, allocates nothing after
// the first use of each method, and is for one goroutine at a time.
type Dense struct {
	f          Func
	r, jac     []float64
	at         []float64 // where jac was last evaluated
	x, r1, r2  []float64
	jac1, jac2 []float64 // for differences of the Jacobian, made when needed
	curvature  []float64
	probe      []float64 // a point beside w
	pj1, pj2   []float64 // ∂r/∂θ, made when needed
	theta      []float64
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
		f: f, r: make([]float64, m), jac: make([]float64, m*n),
		at: make([]float64, n), x: make([]float64, n), probe: make([]float64, n), r1: make([]float64, m), r2: make([]float64, m),
	}
	d.at[0] = math.NaN() // nowhere yet
	return d
}

// Dim returns Func.Dim.
func (d *Dense) Dim() int { return d.f.Dim }

// Rows returns Func.Rows.
func (d *Dense) Rows() int { return d.f.Rows }

// Params returns Func.Params.
func (d *Dense) Params() int { return d.f.Params }

// Residual writes r at w.
func (d *Dense) Residual(r, w []float64) { d.f.Residual(r, w) }

// Jacobian writes the Rows x Dim Jacobian at w.
func (d *Dense) Jacobian(jac, w []float64) {
	if d.f.Jacobian != nil {
		d.f.Jacobian(jac, w)
		return
	}
	n := d.f.Dim
	copy(d.x, w)
	for j, v := range w {
		h := differenceStep(v)
		d.x[j] = v + h
		d.f.Residual(d.r1, d.x)
		up := d.x[j]
		d.x[j] = v - h
		d.f.Residual(d.r2, d.x)
		inv := 1 / (up - d.x[j])
		for i := range d.r1 {
			jac[i*n+j] = (d.r1[i] - d.r2[i]) * inv
		}
		d.x[j] = v
	}
}

// linearise evaluates jac at w.
func (d *Dense) linearise(w []float64) {
	d.Jacobian(d.jac, w)
	copy(d.at, w)
}

// differenceStep is the central-difference step for a variable of value v:
// the cube root of eps balances truncation against rounding.
func differenceStep(v float64) float64 { return 6e-6 * max(math.Abs(v), 1e-3) }

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
	symmetrize(a, len(w))
	return cost
}

// EachBlock implements [RowReader] with a single block.
func (d *Dense) EachBlock(w []float64, visit func(r, jac []float64)) {
	d.f.Residual(d.r, w)
	d.linearise(w)
	visit(d.r, d.jac)
}

// Hessian implements [SecondOrder].
func (d *Dense) Hessian(h, g, w []float64) float64 {
	cost := d.Normal(h, g, w)
	if d.f.AddCurvature != nil {
		d.f.AddCurvature(h, d.r, w)
		return cost
	}
	n := d.f.Dim
	d.jacobianBuffers()
	if d.curvature == nil {
		d.curvature = make([]float64, n*n)
	}
	x, c := d.probe, d.curvature
	copy(x, w)
	clear(c)
	for k, v := range w {
		step := 20 * differenceStep(v)
		x[k] = v + step
		d.Jacobian(d.jac1, x)
		up := x[k]
		x[k] = v - step
		d.Jacobian(d.jac2, x)
		inv := 1 / (up - x[k])
		x[k] = v
		for i, ri := range d.r { // differences of the residual do not touch r
			for j := range n {
				c[k*n+j] += ri * (d.jac1[i*n+j] - d.jac2[i*n+j]) * inv
			}
		}
	}
	for i := range n {
		for j := range n {
			h[i*n+j] += 0.5 * (c[i*n+j] + c[j*n+i])
		}
	}
	return cost
}

func (d *Dense) jacobianBuffers() {
	if d.jac1 == nil {
		d.jac1, d.jac2 = make([]float64, len(d.jac)), make([]float64, len(d.jac))
	}
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
