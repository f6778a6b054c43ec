package model

import (
	"fmt"
	"math"

	"pihc/constraint"
	"pihc/grid"
	"pihc/pde"
)

const (
	// mostStart is how far a solution may be from what the conditions say of its beginning,
	// relative to the beginnings of all: more is an initial condition of something else.
	mostStart = 0.1
	// mostResidual is the residual, relative to the rate, of which solutions on a coarse grid may have
	// a good part: diffusion-sorption's have a half.
	mostResidual = 1.0
	// residualSamples is how many solutions the residual is taken of.
	residualSamples = 16
	// roundedRate is the rate, over the solution in its units, that is none but for rounding.
	roundedRate = 1e-9
)

// examine compares solutions with the problem: the beginnings of all with their initial conditions,
// and the residual of some, from solution first on, with their rate.
func (f *given) examine(first int) (warning string, err error) {
	sys, err := f.problem.Discretize(f.grid)
	if err != nil {
		return "", err
	}
	for i, set := range sys.Sets {
		if i < len(f.problem.Residuals) {
			continue
		}
		if c := f.problem.Conditions[i-len(f.problem.Residuals)]; f.statesStart(c, set) {
			if err := f.compareStart(sys, c, set); err != nil {
				return "", err
			}
		}
	}
	size, err := f.residual(sys, first)
	if err != nil || !(size > mostResidual) {
		return "", err
	}
	return fmt.Sprintf("the solutions of %s are far from meeting the residual of %s, which is %.0f %% of their rate (rms over rms of the derivative in time, or of the first term): are they of this equation, with these constants, axes and units?",
		f.path, f.problem.Name, 100*size), nil
}

// statesStart reports whether a condition says what the unknowns themselves begin with, by initial conditions.
func (f *given) statesStart(c pde.Rows, set *pde.RowSet) bool {
	p := f.problem
	if p.Steady || c.At[p.Axes[0].Name] != "low" {
		return false
	}
	for _, t := range set.Terms {
		if t >= len(p.Unknowns) {
			return false // a derivative of a coarse solution is no measure
		}
	}
	for _, u := range p.Unknowns {
		if u.Initial >= 0 && c.Expr.DependsOn(u.InitialName()) {
			return true
		}
	}
	return false
}

// compareStart is an error for a solution that does not meet a condition at its beginning.
// Nodes at ends of axes of space may have the values of the walls.
func (f *given) compareStart(sys *pde.System, c pde.Rows, set *pde.RowSet) error {
	var inside []int
	for i, point := range set.Points {
		end := false
		for a, axis := range f.grid.Axes[1:] {
			at := int(point) / f.grid.Strides()[1+a] % axis.Points
			end = end || axis.Boundary == grid.Nodes && (at == 0 || at == axis.Points-1)
		}
		if !end {
			inside = append(inside, i)
		}
	}
	if len(inside) == 0 {
		return nil
	}
	rows := newRowValues(sys, set, set.Points)
	u, zero, u0 := make([]float64, sys.FieldSize()), make([]float64, sys.FieldSize()), make([]float64, f.problem.SampleSize(f.grid))
	values := func(field []float64) []float64 {
		out := rows.eval(pde.Values, field, u0)[0]
		own := make([]float64, len(inside))
		for i, at := range inside {
			own[i] = out[at]
		}
		return own
	}
	off, size := make([]float64, f.count), 0.0
	worst := 0
	for i := range f.count {
		f.input(u0, i)
		f.solution(u, i)
		own, still := values(u), values(zero)
		off[i] = rootMeanSquare(own)
		if off[i] > off[worst] {
			worst = i
		}
		// What the rows say of the initial condition, or the solution if that is larger.
		begin := rootMeanSquare(still)
		for k := range own {
			own[k] -= still[k]
		}
		begin = max(begin, rootMeanSquare(own))
		size += begin * begin / float64(f.count)
	}
	if size = math.Sqrt(size); !(off[worst] > mostStart*size) {
		return nil
	}
	return f.fail("the conditions, in the PDE file, say how solutions begin; without the array "+f.startArray(c)+" that is what they have at the first point",
		"solution %d does not begin with its initial condition: condition %s is off by %.0f %% (rms, of that of the initial conditions)", worst, c.Name, 100*off[worst]/size)
}

// startArray is the array of the initial condition that a condition contains.
func (f *given) startArray(c pde.Rows) string {
	for _, u := range f.problem.Unknowns {
		if u.Initial >= 0 && c.Expr.DependsOn(u.InitialName()) {
			return InputArray(f.problem, u.InitialName())
		}
	}
	return GivenInitial
}

// residual is that of solutions from first on over their rate, both as root mean squares.
func (f *given) residual(sys *pde.System, first int) (float64, error) {
	plain, err := constraint.NewPlainResidual(sys, nil)
	if err != nil {
		return 0, err
	}
	count := min(f.count-first, residualSamples)
	u, u0 := make([]float64, sys.FieldSize()), make([]float64, f.problem.SampleSize(f.grid))
	n := len(f.problem.Residuals)
	residual, rate := make([]float64, n), make([]float64, n)
	for i := range count {
		at := first + i*(f.count-first)/count
		f.input(u0, at)
		f.solution(u, at)
		own, of := plain.RMS(u, u0)
		for k := range n {
			residual[k], rate[k] = math.Hypot(residual[k], own[k]), math.Hypot(rate[k], of[k])
		}
	}
	for k := range residual {
		if rate[k] <= roundedRate*rootMeanSquare(u) {
			residual[k], rate[k] = 0, 1 // of a term that is zero but for rounding nothing follows
		}
	}
	return constraint.Relative(residual, rate), nil
}
