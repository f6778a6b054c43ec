package inverse

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"pihc/grid"
	"pihc/lm"
)

// A Fit is what observations tell of parameters. Coordinates are those of the parameters (Parameter.Log).
type Fit struct {
	Coordinates []float64 // at the least sum of squares
	Deviations  []float64 // by Gauss and Newton, +Inf where the data do not see a parameter
	Low, High   []float64 // ends of the 95 % profile-likelihood intervals, ∓Inf where there is none
	Ends        []int     // -1 and 1 of a positive number that the fit takes to zero or to infinity, else 0
	Correlation []float64 // (n, n) of the estimates
	Predicted   []float64 // the observations
	Spread      []float64 // standard deviation of each prediction, by Gauss and Newton
	Outstanding []int     // observations whose residual is too large for one of as many, the largest first
	Unseen      []Unseen

	ChiSquared float64
	Degrees    int
	P          float64 // of a larger sum where equation and deviations are right
	Parts      []Part  // of the observations and, where there are some, of the priors

	Grid        *grid.Grid // of the solutions
	Moved       float64    // what the last refinement moved an estimate by, in deviations
	ChiMoved    float64    // what the next grids move ChiSquared by
	Iterations  int
	Evaluations int // of all observations and derivatives
	Warnings    []string

	last *fitter
}

// Quantile is what chi-squared of one degree is below with 95 %.
const Quantile = 3.841458820694124

const (
	mostMoved   = 0.1       // of a deviation, that the grid may move an estimate or chi-squared by
	mostValues  = 8_000_000 // of a solution
	mostDoubled = 7
)

// fitter minimises the sum of squares of a model on one grid.
type fitter struct {
	*solved
	ctx         context.Context
	at          []float64 // where the following are
	residual    []float64 // (observations, priors)
	jacobian    []float64 // (the same, parameters)
	err         error     // no solution there
	evaluations *int
}

// move evaluates the residuals at theta, unless they are there.
func (f *fitter) move(theta []float64) {
	if slices.Equal(f.at, theta) {
		return
	}
	*f.evaluations++
	n := len(theta)
	f.at = append(f.at[:0], theta...)
	f.residual, f.jacobian = f.residual[:0], f.jacobian[:0]
	var values, jac []float64
	err := f.ctx.Err()
	if err == nil {
		values, jac, err = f.evaluate(theta)
	}
	f.err = err
	for i, o := range f.Observations {
		if err != nil {
			f.residual = append(f.residual, math.NaN())
			f.jacobian = append(f.jacobian, make([]float64, n)...)
			continue
		}
		f.residual = append(f.residual, (values[i]-o.Value)/o.Sigma)
		for _, v := range jac[i*n : (i+1)*n] {
			f.jacobian = append(f.jacobian, v/o.Sigma)
		}
	}
	for j, p := range f.Parameters {
		if p.Prior != nil {
			row := make([]float64, n)
			row[j] = 1 / p.Prior.Deviation
			f.residual = append(f.residual, (theta[j]-p.Prior.Mean)/p.Prior.Deviation)
			f.jacobian = append(f.jacobian, row...)
		}
	}
}

// cost is half the sum of squares, and its gradient.
func (f *fitter) cost() (cost float64, gradient []float64) {
	n := len(f.at)
	gradient = make([]float64, n)
	for i, r := range f.residual {
		cost += r * r / 2
		for j, v := range f.jacobian[i*n : (i+1)*n] {
			gradient[j] += v * r
		}
	}
	return cost, gradient
}

// ErrStart says that there is no solution where the parameters start.
var ErrStart = errors.New("no solution is found where the fit starts")

// minimise moves theta to a least sum of squares and says which numbers run to an end (Fit.Ends).
func (f *fitter) minimise(theta []float64) (res lm.Result, ends []int, err error) {
	f.move(theta)
	if f.err != nil {
		return res, nil, fmt.Errorf("%w: %w", ErrStart, f.err)
	}
	p := lm.NewDense(len(f.residual), len(theta),
		func(r, w []float64) { f.move(w); copy(r, f.residual) },
		func(jac, w []float64) { f.move(w); copy(jac, f.jacobian) })
	// The cost is about half the number of residuals: what is left of it is of no estimate.
	options := lm.Options{Descent: lm.LevenbergMarquardt{NoAcceleration: true}, NoRestart: true, FTol: 1e-4 / float64(len(f.residual))}
	for range 3 {
		one := lm.NewSolver(len(theta), options).Solve(p, theta)
		one.Iterations += res.Iterations
		res = one
		if err := f.ctx.Err(); err != nil {
			return res, nil, err
		}
		if f.move(theta); f.err != nil || res.Status == lm.StatusNonFiniteStart {
			return res, nil, fmt.Errorf("%w: a derivative is not finite", ErrStart)
		}
		var again bool
		if ends, again = f.comeBack(theta); !again {
			break
		}
	}
	return res, ends, nil
}

// newtonStep is that of Gauss and Newton where the fitter is, in deviations, of the parameters that are seen and at no end, and the sum of
// squares that it leads to.
func (f *fitter) newtonStep(ends []int) (steps []float64, sum float64) {
	cost, gradient := f.cost()
	n, jac := len(f.at), slices.Clone(f.jacobian)
	for i := range jac {
		if ends[i%n] != 0 { // the sum falls towards an end, where no step leads
			jac[i] = 0
		}
	}
	x := newInformation(jac, n)
	c, steps := newInformation(f.jacobian, n).covariance(), x.solve(gradient)
	for j, v := range steps {
		if ends[j] == 0 {
			cost -= v * gradient[j] / 2
		}
		if x.unseen(j) {
			steps[j] = 0
		} else {
			steps[j] /= math.Sqrt(c[j*n+j])
		}
	}
	return steps, 2 * cost
}

// unsettled is what a finer grid moves chi-squared by, in its standard deviation or, where that is more, in parts of what it is above its
// degrees: a fit that is far from the data on every grid needs no better one.
func unsettled(coarse, fine float64, degrees int) float64 {
	m := max(1, float64(degrees))
	return math.Abs(fine-coarse) / max(math.Sqrt(2*m), coarse-m)
}

// Run fits the parameters. Say is told of every grid. The error is ctx's, that of a problem that cannot be solved, or ErrStart.
func (m *Model) Run(ctx context.Context, say func(format string, args ...any)) (*Fit, error) {
	out := &Fit{}
	for i := range m.Parameters {
		out.Coordinates = append(out.Coordinates, m.Parameters[i].Coordinate(m.Parameters[i].Start))
	}
	at := func(l level) (*fitter, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s, err := m.solve(l)
		return &fitter{solved: s, ctx: ctx, evaluations: &out.Evaluations}, err
	}
	var now level
	f, err := at(now)
	if err != nil {
		return nil, err
	}
	for range 20 {
		if now, f, err = out.refine(m, now, f, at, say); err != nil {
			return nil, err
		}
		better, err := out.describe(f)
		if err != nil || better == nil {
			return out, err
		}
		say("a smaller sum of squares is met on the way to an end of an interval: the fit goes on from there")
		copy(out.Coordinates, better)
	}
	out.warn("the fit may not be at its end: the sum of squares has many minima")
	return out, nil
}

func (out *Fit) warn(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(out.Warnings, text) {
		out.Warnings = append(out.Warnings, text)
	}
}

// refine fits on grids from f's on until the next would not move the estimates, and returns the last.
func (out *Fit) refine(m *Model, now level, f *fitter, at func(level) (*fitter, error), say func(string, ...any)) (level, *fitter, error) {
	theta := out.Coordinates
	var by moves
	for {
		res, ends, err := f.minimise(theta)
		if err != nil {
			return now, nil, err
		}
		out.Iterations, out.Ends = out.Iterations+res.Iterations, ends
		if err := res.Status.Err(); err != nil && res.Status != lm.StatusRankDeficient {
			out.warn("the fit may not be at its end: %v", err)
		}
		next, finer, err := m.finer(now, f, theta, ends, at, &by)
		if err != nil {
			return now, nil, err
		}
		out.Moved, out.ChiMoved, out.Grid, out.last = max(by.estimates[0], by.estimates[1]), by.sum[0]+by.sum[1], f.grid, f
		say("on %v: chi-squared %.6g, the next grid moves it by %.2g and estimates by %.2g deviations", f.grid.Shape(), 2*res.Cost, out.ChiMoved, out.Moved)
		if next == now {
			if out.Moved >= mostMoved {
				out.warn("estimates still move by %.2g of their deviation from grid to grid: intervals are in part of the grid", out.Moved)
			}
			if max(by.unsettled[0], by.unsettled[1]) >= mostMoved {
				out.warn("chi-squared still moves by %.2g from grid to grid: it is in part of the grid", out.ChiMoved)
			}
			return now, f, nil
		}
		if now, f = next, finer; f == nil {
			if f, err = at(now); err != nil {
				return now, nil, err
			}
		}
	}
}

// moves is what grids finer in time, and in space, move a fit by.
type moves struct{ estimates, sum, unsettled [2]float64 } // in deviations, of chi-squared, and that as unsettled says

// finer looks at the grids with twice the points in time, and in space, and returns the level that the estimates and chi-squared ask for,
// its fitter if there is one, and what it moves them by; beyond the limit that is what the grid before did.
func (m *Model) finer(now level, on *fitter, theta []float64, ends []int, at func(level) (*fitter, error), by *moves) (next level, f *fitter, err error) {
	next = now
	on.move(theta)
	own, sum := on.newtonStep(ends) // not zero where a number runs to an end
	for d, l := range []level{{now.time + 1, now.space}, {now.time, now.space + 1}} {
		if max(l.time, l.space) > mostDoubled || m.values(l) > mostValues {
			by.estimates[d] = max(by.estimates[d], mostMoved)
			continue
		}
		x, err := at(l)
		if err != nil {
			return now, nil, err
		}
		if x.move(theta); x.err != nil {
			return now, nil, x.err
		}
		steps, fine := x.newtonStep(ends)
		by.estimates[d], by.sum[d], by.unsettled[d] = 0, math.Abs(fine-sum), unsettled(sum, fine, len(on.residual)-len(theta))
		for j, step := range steps {
			by.estimates[d] = max(by.estimates[d], math.Abs(step-own[j]))
		}
		if max(by.estimates[d], by.unsettled[d]) >= mostMoved {
			next, f = level{max(next.time, l.time), max(next.space, l.space)}, x
		}
	}
	if next.time > now.time && next.space > now.space {
		f = nil
	}
	return next, f, nil
}

// describe fills in what is known at the minimum, or returns a better one.
func (out *Fit) describe(f *fitter) (better []float64, err error) {
	theta := out.Coordinates
	n := len(theta)
	f.move(theta)
	cost, _ := f.cost()
	x := newInformation(f.jacobian, n)
	c := x.covariance()
	out.Deviations, out.Low, out.High, out.Correlation = nil, nil, nil, make([]float64, n*n)
	for j := range n {
		if err := f.ctx.Err(); err != nil {
			return nil, err
		}
		low, high, deviation := math.Inf(-1), math.Inf(1), math.Inf(1)
		if !x.unseen(j) {
			deviation = math.Sqrt(c[j*n+j])
			for side, end := range []*float64{&low, &high} {
				found := out.Ends[j] == 2*side-1
				if !found {
					if *end, found, better = f.profile(theta, j, float64(2*side-1), cost); better != nil {
						return better, nil
					}
				}
				if !found {
					out.warn("the interval of %s: its %s end is not found: there is no solution with numbers on the way there", f.Parameters[j].Name, []string{"low", "high"}[side])
				}
			}
		}
		out.Low, out.High, out.Deviations = append(out.Low, low), append(out.High, high), append(out.Deviations, deviation)
		for k := range n {
			if s := math.Sqrt(c[j*n+j] * c[k*n+k]); s > 0 {
				out.Correlation[j*n+k] = c[j*n+k] / s
			}
		}
	}
	f.move(theta)
	out.ChiSquared, out.Degrees, out.P = 2*cost, len(f.residual)-x.rank(), 1
	if out.Degrees > 0 {
		out.P = chiSquaredTail(out.ChiSquared, float64(out.Degrees))
	}
	out.residuals(f, c)
	out.Unseen = f.findUnseen(x)
	f.move(theta)
	return nil, nil
}

// residuals fills in predictions, their deviations, and the observations that stand out: of a normal residual, after what the fit takes
// from it, at 5 % for the largest of all (Bonferroni).
func (out *Fit) residuals(f *fitter, c []float64) {
	n, count := len(out.Coordinates), len(f.Observations)
	most := normalQuantile(1 - 0.025/float64(count))
	size := map[int]float64{}
	out.Predicted, out.Spread, out.Outstanding, out.Parts = nil, nil, nil, nil
	data, left := 0.0, float64(count)
	for i, o := range f.Observations {
		row, variance := f.jacobian[i*n:(i+1)*n], 0.0
		for j, v := range row {
			for k, w := range row {
				variance += v * w * c[j*n+k]
			}
		}
		data, left = data+f.residual[i]*f.residual[i], left-variance
		out.Predicted = append(out.Predicted, o.Value+f.residual[i]*o.Sigma)
		out.Spread = append(out.Spread, math.Sqrt(max(variance, 0))*o.Sigma)
		if own := 1 - variance; own > 1e-6 {
			if size[i] = math.Abs(f.residual[i]) / math.Sqrt(own); size[i] > most {
				out.Outstanding = append(out.Outstanding, i)
			}
		}
	}
	sortBy(out.Outstanding, func(i int) float64 { return -size[i] })
	out.Parts = append(out.Parts, part("observations", data, left))
	if len(f.residual) > count {
		out.Parts = append(out.Parts, part("priors", out.ChiSquared-data, float64(out.Degrees)-left))
	}
}

// Fields are the fitted solutions (C, P) of all experiments at the points of the model's grid.
func (m *Model) Fields(fit *Fit) (all [][]float64, err error) {
	s := fit.last.solved
	for _, sample := range s.samples {
		s.place(sample, fit.Coordinates)
		u := make([]float64, s.grid.Size()*len(m.Problem.Unknowns))
		n, times := s.grid.Size()/s.grid.Axes[0].Points, s.grid.Axes[0].Points
		if err := s.solver.SolveAlong(sample, nil, func(k int, slice []float64, _ [][]float64) {
			for c := range m.Problem.Unknowns {
				copy(u[(c*times+k)*n:], slice[c*n:(c+1)*n])
			}
		}); err != nil {
			return nil, err
		}
		all = append(all, grid.Resample(u, s.grid.Axes, m.Grid.Axes))
	}
	return all, nil
}
