package discrete

import (
	"errors"
	"slices"

	"pihc/grid"
	"pihc/pde"
)

// A Floor tells what a discretisation can reach, with no network at all.
type Floor struct {
	// Residual is rms(F of the reference solution) / rms(u_t) over the residual
	// rows, without row weights: what a perfect prediction would show. Of several
	// residuals it is pde.Relative.
	Residual float64
	// Error is the relative L2 distance (grid.RelativeL2) between the reference solution and the
	// field that minimises all rows over all grid values.
	Error      float64
	Iterations int
	Work       float64 // of factored matrices: about the number of products
}

// ErrFloor says that the minimiser was not found.
var ErrFloor = errors.New("the full-grid minimiser did not converge")

// ErrLarge says that the full-grid minimiser would take too long.
var ErrLarge = errors.New("the full-grid minimiser takes too long")

// MeasureFloor minimises the rows of a problem over every grid value that the ansatz does not fix,
// starting at the reference solution truth (C, P), by Gauss-Newton steps with a banded Cholesky
// factorisation: P·b² multiplications a step, with b the bandwidth (about twice the points of the
// shorter axis). Where that are too many, or a term is not a finite difference, steps are by
// conjugate gradients, until most values of terms (points times terms times iterations; a core forms
// some 1e8 in a second) have been formed. scale is what multiplies the squares of a set's rows. If
// the minimiser is not found so the error is ErrLarge, and only Residual is there.
func MeasureFloor(sys *pde.System, scale func(set *pde.RowSet) float64, sample, truth []float64, most float64) (Floor, error) {
	var out Floor
	plain, err := sys.NewPlainResidual()
	if err != nil {
		return out, err
	}
	out.Residual = pde.Relative(plain.RMS(truth, sample))
	u := slices.Clone(truth)
	if out.Iterations, out.Work, err = minimiseFrom(sys, scale, sample, u, most); err == nil {
		out.Error = grid.RelativeL2(u, truth, len(sys.Problem.Unknowns))
	}
	return out, err
}

// Nearest moves u (C, P) to a field that minimises all rows, unweighted: of several solutions one near u. The error
// is ErrFloor or ErrLarge.
func Nearest(sys *pde.System, sample, u []float64) error {
	_, _, err := minimiseFrom(sys, func(*pde.RowSet) float64 { return 1 }, sample, u, mostNearest)
	return err
}

// mostNearest bounds the work of Nearest, as most does that of MeasureFloor: some seconds.
const mostNearest = 1e9

// minimiseFrom moves u, but for what the ansatz fixes, to the minimiser of the rows.
func minimiseFrom(sys *pde.System, scale func(set *pde.RowSet) float64, sample, u []float64, most float64) (steps int, work float64, err error) {
	m := newMinimiser(sys, scale, sample, most)
	if m.fixed != nil {
		offset := make([]float64, len(u))
		sys.Offset(offset, sample)
		for p, fixed := range m.fixed {
			if fixed {
				u[p] = offset[p]
			}
		}
	}
	steps, err = m.minimise(u)
	return steps, m.work, err
}
