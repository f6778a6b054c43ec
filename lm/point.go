package lm

import "math"

// Point is a point w of a problem with the quadratic model c + gᵀδ + ½δᵀAδ of the
// cost about it, as a [Descent] reads it. n is the number of unknowns.
type Point struct {
	W    []float64 // n
	Cost float64   // c = ½‖r‖² + ½ε²‖w‖²
	G    []float64 // g = Jᵀr + ε²w (n)
	A    []float64 // A = JᵀJ + ε²I (n x n, row-major)
	D    []float64 // the diagonal D of the scaling, positive (n)

	known    bool      // the model is evaluated
	gradient float64   // scaled, see scaledGradient
	h        []float64 // the exact Hessian A + Σ r_i∇²r_i (n x n), where hasH
	hasH     bool      // and it is finite

	problem Problem
	rows    RowReader // problem, where its rows can be read
	ridge   float64
	linear  *linear
}

func newPoint(n int, d []float64, ridge float64, l *linear) *Point {
	return &Point{
		W: make([]float64, n), G: make([]float64, n), A: make([]float64, n*n), D: d,
		h: make([]float64, n*n), ridge: ridge, linear: l,
	}
}

// Solve writes the solution of (A + μD²)δ = −g to step and reports whether the
// matrix could be factored.
func (x *Point) Solve(step []float64, mu float64) bool { return x.linear.solve(step, x, mu) }

// Reduction returns the reduction of the cost that the model predicts for a
// step, −gᵀδ − ½δᵀAδ.
func (x *Point) Reduction(step []float64) float64 {
	// The second term is at most half the first for every damped step, so
	// nothing cancels.
	n, quadratic := len(x.W), 0.0
	for i, v := range step {
		quadratic += v * dot(x.A[i*n:(i+1)*n], step)
	}
	return -dot(x.G, step) - 0.5*quadratic
}

// Norm returns ‖Dδ‖.
func (x *Point) Norm(step []float64) float64 {
	s := 0.0
	for j, v := range step {
		s += (x.D[j] * v) * (x.D[j] * v)
	}
	return math.Sqrt(s)
}

// moveTo moves the point to w, where nothing is evaluated yet.
func (x *Point) moveTo(w []float64) {
	n := len(w)
	x.W, x.G, x.A, x.D, x.h, x.hasH = x.W[:n], x.G[:n], x.A[:n*n], x.D[:n], x.h[:n*n], false
	x.known = false
	copy(x.W, w)
}

// evaluate evaluates the model, or the cost alone.
func (x *Point) evaluate(derivatives bool) {
	x.known, x.hasH = derivatives, false
	if derivatives {
		x.Cost = x.problem.Normal(x.A, x.G, x.W)
		x.addRidge()
	} else {
		x.Cost = x.problem.Normal(nil, nil, x.W) + x.ridgeCost()
	}
}

// evaluateHessian evaluates the exact Hessian, and with model the model too.
func (x *Point) evaluateHessian(p SecondOrder, model bool) {
	var cost float64
	if model {
		x.Cost = p.HessianParts(x.A, x.h, x.G, x.W)
		x.addRidge()
		x.known, cost = true, x.Cost
	} else {
		cost = p.HessianParts(nil, x.h, nil, x.W)
	}
	axpy(x.h, 1, x.A)
	x.hasH = finite(cost) && allFinite(x.h)
}

// addRidge adds the ridge to the model and scales its gradient.
func (x *Point) addRidge() {
	if e2 := x.ridge * x.ridge; e2 != 0 {
		for j, v := range x.W {
			x.G[j] += e2 * v
			x.A[j*len(x.W)+j] += e2
		}
		x.Cost += x.ridgeCost()
	}
	x.gradient = x.scaledGradient()
}

func (x *Point) ridgeCost() float64 {
	if x.ridge == 0 {
		return 0
	}
	return 0.5 * x.ridge * x.ridge * dot(x.W, x.W)
}

// scaledGradient returns MINPACK's max_j |g_j|/(‖J_j‖‖r‖), the largest cosine
// between the residual and a column, or NaN if a derivative is not finite (a NaN
// or Inf anywhere in J reaches the diagonal of JᵀJ).
func (x *Point) scaledGradient() float64 {
	largest, check := 0.0, 0.0
	norm := math.Sqrt(2 * x.Cost)
	for j, g := range x.G {
		a := x.A[j*len(x.W)+j]
		check += g*0 + a*0
		if g != 0 {
			largest = max(largest, math.Abs(g)/(math.Sqrt(a)*norm))
		}
	}
	return largest + check
}

// largest returns max_j A_jj/D_j².
func (x *Point) largest() float64 {
	largest := 0.0
	for j, d := range x.D {
		largest = max(largest, x.A[j*len(x.W)+j]/(d*d))
	}
	return largest
}

// updateScaling updates d from the diagonal of A. A zero column gets d_j = 1.
func (x *Point) updateScaling(d []float64, scaling Scaling, first bool) {
	for j := range x.W {
		v := math.Sqrt(x.A[j*len(x.W)+j])
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
