package lm

// Problem is a sum of squares ½‖r(w)‖² seen through its normal equations.
//
// The solver never asks for rows, so a problem may have any number of them
// and keep them wherever it likes; only Dim()² numbers cross the interface.
// Use [NewDense] for residual and Jacobian callbacks.
type Problem interface {
	// Dim returns n, the number of unknowns.
	Dim() int

	// Normal evaluates the problem at w (n) and returns ½‖r‖². If g is not
	// nil it also overwrites g (n) with Jᵀr and a (n x n, row-major, both
	// triangles) with JᵀJ. It must not keep or change w. NaN and Inf are
	// legitimate answers: the solver rejects such a point.
	//
	// The ridge of [Options] is not part of the problem; the solver adds it.
	Normal(a, g, w []float64) float64
}

// SecondOrder is a problem that also knows its exact Hessian
// JᵀJ + Σ r_i∇²r_i. The Newton correction and the exact adjoint need it.
type SecondOrder interface {
	Problem

	// HessianParts overwrites c (n x n, row-major, both triangles) with
	// Σ r_i ∇²r_i at w and, if g is not nil, a with JᵀJ and g with Jᵀr, for less
	// than two evaluations. It returns ½‖r‖².
	HessianParts(a, c, g, w []float64) float64
}

// RowReader is a problem whose rows can be read. The QR fallback, the
// refinement against the true rows, and the rank use them.
type RowReader interface {
	Problem

	// EachBlock calls visit with consecutive blocks of k rows: residuals r (k)
	// and Jacobian jac (k x n, row-major), evaluated at w. The slices are
	// valid during the call only. k may differ from block to block.
	EachBlock(w []float64, visit func(r, jac []float64))
}

// Accelerated is a problem that knows the second derivative of its residual
// along a direction, which geodesic acceleration needs.
type Accelerated interface {
	Problem

	// Curvature overwrites out (n) with Jᵀr_vv at w, where
	// r_vv = d²r(w+εv)/dε² at ε = 0.
	Curvature(out, w, v []float64)
}
