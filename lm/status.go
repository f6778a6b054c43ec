package lm

import (
	"errors"
	"fmt"
)

// Status says how a solve ended.
type Status int

const (
	StatusNotStarted        Status = iota
	StatusConvergedGradient        // gtol: the residual is orthogonal to every column of J
	StatusConvergedCost            // ftol: actual and predicted reductions are small
	StatusConvergedStep            // xtol: the step is small
	StatusRankDeficient            // a test was met, but J has rank Result.Rank < n: the minimiser may not be unique
	StatusMaxIterations            // the limit on trial steps was reached
	StatusStalled                  // no step, however short, lowers the cost
	StatusNonFiniteStart           // cost, gradient or JᵀJ is NaN or Inf at the start
)

// String returns a short lower-case name.
func (s Status) String() string {
	return nameOf(s, "not started", "converged (gradient)", "converged (cost)", "converged (step)",
		"rank deficient", "iteration limit", "stalled", "non-finite start")
}

// nameOf returns that of a value from 0 on.
func nameOf[E ~int](e E, names ...string) string {
	if e < 0 || int(e) >= len(names) {
		return fmt.Sprintf("lm: unknown %T %d", e, int(e))
	}
	return names[e]
}

var statusErrors = map[Status]error{
	StatusNotStarted:     errors.New("lm: solve not started"),
	StatusMaxIterations:  errors.New("lm: iteration limit reached"),
	StatusStalled:        errors.New("lm: no step lowers the cost"),
	StatusNonFiniteStart: errors.New("lm: cost or derivatives are not finite at the start"),
}

// Err returns nil for a converged status, rank deficient included, and otherwise
// an error that says how the solve ended.
func (s Status) Err() error { return statusErrors[s] }

// Early reports whether the solve ended before any convergence test was met.
func (s Status) Early() bool { return s.Err() != nil }

// Result describes a finished solve. Every number includes the ridge and
// belongs to the returned w.
type Result struct {
	Status Status

	Iterations  int // trial steps, accepted or rejected
	Accepted    int
	Evaluations int // calls of Normal and HessianParts

	Cost     float64 // ½‖r‖² + ½ε²‖w‖²
	Gradient float64 // max_j |g_j|/(‖J_j‖‖r‖), 0 where g_j = 0

	// SmallestPivot is the smallest pivot of the Cholesky factorisation of
	// JᵀJ + ε²I scaled to unit diagonal: about 1/cond² of the column-scaled
	// Jacobian; 0 where it broke down.
	SmallestPivot float64
	// Rank of J (with the ridge): n unless SmallestPivot was suspicious and a
	// pivoted factorisation found less.
	Rank int

	// Distance estimates ‖w − w*‖₂ by ‖H⁻¹g‖₂, with the exact Hessian where
	// the Newton correction computed it and JᵀJ + ε²I otherwise. It is +Inf
	// where that matrix is not positive definite.
	Distance float64

	Corrected bool // the Newton correction was applied
	Restarted bool // the result is that of the second run, with identity scaling
}

// SetRank sets Rank, and Status where that is less than n, from a = JᵀJ + ε²I (n x n,
// row-major), by a pivoted factorisation: what Solve does where SmallestPivot leaves a
// doubt and rows cannot be read.
func (r *Result) SetRank(a []float64, n int) {
	q := newQR(n)
	r.setRank(q.rankOf(a, n), n)
}

func (r *Result) setRank(rank, n int) {
	if r.Rank = rank; rank < n && !r.Status.Early() {
		r.Status = StatusRankDeficient
	}
}
