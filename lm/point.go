package lm

import "math"

// point is a w of the size of the problem at hand with what was evaluated there.
type point struct {
	w        []float64 // n
	g, a     []float64 // Jᵀr + ε²w (n), JᵀJ + ε²I (n x n)
	cost     float64   // ½‖r‖² + ½ε²‖w‖²
	gradient float64   // scaled, see measure

	h    []float64 // the exact Hessian a + Σ r_i∇²r_i (n x n), where hasH
	hasH bool      // and it is finite
}

func newPoint(n int) *point {
	return &point{w: make([]float64, n), g: make([]float64, n), a: make([]float64, n*n), h: make([]float64, n*n)}
}

// place moves the point to w, where nothing is evaluated yet.
func (x *point) place(w []float64) {
	n := len(w)
	x.w, x.g, x.a, x.h, x.hasH = x.w[:n], x.g[:n], x.a[:n*n], x.h[:n*n], false
	copy(x.w, w)
}

// measure returns MINPACK's scaled gradient max_j |g_j|/(‖J_j‖‖r‖), the
// largest cosine between the residual and a column, or NaN if a derivative is
// not finite (a NaN or Inf anywhere in J reaches the diagonal of JᵀJ).
func (x *point) measure() float64 {
	n, largest, check := len(x.w), 0.0, 0.0
	rnorm := math.Sqrt(2 * x.cost)
	for j := range n {
		check += x.g[j]*0 + x.a[j*n+j]*0
		if x.g[j] != 0 {
			largest = max(largest, math.Abs(x.g[j])/(math.Sqrt(x.a[j*n+j])*rnorm))
		}
	}
	return largest + check
}

// reduction returns −gᵀδ − ½δᵀAδ. The second term is at most half the first
// for every step computed here, so nothing cancels.
func (x *point) reduction(step []float64) float64 {
	n, quadratic := len(x.w), 0.0
	for i, v := range step {
		quadratic += v * dot(x.a[i*n:(i+1)*n], step)
	}
	return -dot(x.g, step) - 0.5*quadratic
}

// largest returns max_j A_jj/D_j².
func (x *point) largest(d []float64) float64 {
	n, largest := len(x.w), 0.0
	for j := range n {
		largest = max(largest, x.a[j*n+j]/(d[j]*d[j]))
	}
	return largest
}

// rescale updates D from the diagonal of a. A zero column gets D_j = 1.
func (x *point) rescale(d []float64, scaling Scaling, first bool) {
	n := len(x.w)
	for j := range n {
		v := math.Sqrt(x.a[j*n+j])
		switch {
		case scaling == ScalingIdentity:
			v = 1
		case scaling == ScalingMore && !first:
			v = max(v, d[j])
		}
		if v == 0 {
			v = 1
		}
		d[j] = v
	}
}

// problem is a Problem of n unknowns with its ridge.
type problem struct {
	Problem
	n     int
	ridge float64
	rows  RowReader // nil if it has none
}

// evaluate evaluates the model at x, or the cost alone.
func (p problem) evaluate(x *point, derivatives bool) {
	x.hasH = false
	if !derivatives {
		x.cost = p.Normal(nil, nil, x.w) + p.ridgeCost(x.w)
		return
	}
	x.cost = p.Normal(x.a, x.g, x.w)
	p.addRidge(x)
}

// hessian evaluates the exact Hessian at x, and with model the model too.
func (p problem) hessian(x *point, second SecondOrder, model bool) {
	var cost float64
	if model {
		x.cost = second.HessianParts(x.a, x.h, x.g, x.w)
		p.addRidge(x)
		cost = x.cost
	} else {
		cost = second.HessianParts(nil, x.h, nil, x.w)
	}
	axpy(x.h, 1, x.a)
	x.hasH = finite(cost) && allFinite(x.h)
}

// addRidge adds the ridge to the model at x and measures its gradient.
func (p problem) addRidge(x *point) {
	if e2 := p.ridge * p.ridge; e2 != 0 {
		for j, v := range x.w {
			x.g[j] += e2 * v
			x.a[j*p.n+j] += e2
		}
		x.cost += p.ridgeCost(x.w)
	}
	x.gradient = x.measure()
}

func (p problem) ridgeCost(w []float64) float64 {
	if p.ridge == 0 {
		return 0
	}
	return 0.5 * p.ridge * p.ridge * dot(w, w)
}
