package dataset

import (
	"math"
	"slices"

	"pihc/grid"
	"pihc/pde"
)

const (
	// mostStart is how far a solution may be from what the conditions say of its beginning,
	// relative to the beginnings of all: more is an initial condition of something else.
	mostStart = 0.1
	// MostResidual is the residual, relative to the rate, of which solutions on a coarse grid may have
	// a good part: diffusion-sorption's have a half.
	MostResidual = 1.0
	// roundedRate is the rate, over the solution in its units, that is none but for rounding.
	roundedRate = 1e-9
)

// compareStarts is an error for solutions that do not begin with their initial conditions.
func (f *given) compareStarts() error {
	sys, err := f.problem.Discretize(f.grid)
	if err != nil {
		return err
	}
	for _, b := range NewBeginnings(sys) {
		if err := f.compareStart(b); err != nil {
			return err
		}
	}
	return nil
}

// compareStart is an error for a solution that does not begin with its initial condition.
func (f *given) compareStart(b *beginning) error {
	u, u0 := make([]float64, b.values.System.FieldSize()), make([]float64, f.problem.InputSize(f.grid))
	off, size := make([]float64, f.count), 0.0
	worst := 0
	for i := range f.count {
		f.input(u0, i)
		f.solution(u, i)
		var begin float64
		if off[i], begin = b.miss(u, u0); off[i] > off[worst] {
			worst = i
		}
		size += begin * begin / float64(f.count)
	}
	if size = math.Sqrt(size); !(off[worst] > mostStart*size) {
		return nil
	}
	return f.fail("the conditions, in the PDE file, say how solutions begin; without the array "+InputArray(f.problem, b.initial)+" that is what they have at the first point",
		"solution %d does not begin with its initial condition: condition %s is off by %.0f %% (rms, of that of the initial conditions)", worst, b.name, 100*off[worst]/size)
}

// relative is pde.Relative without residuals over a rate that is zero but for rounding, of which nothing follows.
func relative(residual, rate []float64, rounded float64) float64 {
	for k := range residual {
		if rate[k] <= rounded {
			residual[k], rate[k] = 0, 1
		}
	}
	return pde.Relative(residual, rate)
}

// SolutionResidual is the residual of a solution (C, P) for the inputs of a sample over its rate (pde.Relative), but for those
// over a rate that is zero but for rounding.
func SolutionResidual(plain *pde.PlainResidual, u, sample []float64) float64 {
	residual, rate := plain.RMS(u, sample)
	return relative(residual, rate, roundedRate*RootMeanSquare(u))
}

// rounding of predictions in 32 bits, relative to their root mean square: of single values, and of their change over
// the whole first axis.
const (
	roundedValue  = 1e-6
	roundedChange = 1e-5
)

// Computed is the size of what of a field (C, P) is computed in 32 bits: of the field, or, where an ansatz adds it to an offset,
// in 64 bits, of its change since the first time, 1e-8 of the field at least. A nil problem has no ansatz.
func Computed(p *pde.Problem, g *grid.Grid, u []float64) float64 {
	whole := RootMeanSquare(u)
	if p == nil || p.Steady || !p.HasOffset() {
		return whole
	}
	size, slice, sum := g.Size(), g.Size()/g.Axes[0].Points, 0.0
	for i, v := range u {
		d := v - u[i/size*size+i%slice]
		sum += d * d
	}
	return max(math.Sqrt(sum/float64(len(u))), 1e-8*whole)
}

// PredictionResidual is the residual of a prediction (C, P) for the inputs of a sample over its own rate (ResidualOver).
func PredictionResidual(plain *pde.PlainResidual, p *pde.Problem, g *grid.Grid, u, sample []float64) float64 {
	_, rate := plain.RMS(u, sample)
	return ResidualOver(plain, p, g, u, sample, rate, Computed(p, g, u))
}

// ResidualOver is the residual of a field u (C, P) for the inputs of a sample over the rate of a field of which so much is Computed
// (pde.Relative). Over a rate that is zero but for rounding it is 0 where the residual is zero but for rounding too, and
// otherwise infinite.
func ResidualOver(plain *pde.PlainResidual, p *pde.Problem, g *grid.Grid, u, sample, rate []float64, size float64) float64 {
	residual, _ := plain.RMS(u, sample)
	rate = slices.Clone(rate)
	axis := g.Axes[0]
	var rounding []float64
	for k := range residual {
		if rate[k] > roundedChange/(axis.Hi-axis.Lo)*size {
			continue
		}
		if rounding == nil {
			rounding = plain.Rounding(u, sample, roundedValue*Computed(p, g, u))
		}
		if rate[k] = 0; residual[k] <= rounding[k] {
			residual[k], rate[k] = 0, 1
		}
	}
	return pde.Relative(residual, rate)
}
