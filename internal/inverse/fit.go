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
	Refined     []float64 // these, moved by the steps of Gauss and Newton to grids with twice the points: the estimates
	Deviations  []float64 // by Gauss and Newton, +Inf where the data do not see a parameter
	Low, High   []float64 // ends of the 95 % profile-likelihood intervals, ∓Inf where there is none
	Lost        []bool    // an end of the interval was not found, whether or not there is one
	Ends        []int     // -1 and 1 of a positive number that the fit takes to zero or to infinity, else 0
	Correlation []float64 // (n, n) of the estimates
	Predicted   []float64 // the observations
	Spread      []float64 // standard deviation of each prediction, by Gauss and Newton
	Outstanding []int     // observations whose residual is too large for one of as many, the largest first
	Unseen      []Unseen
	Held        []bool // the data see the number, but not by derivatives, which are zero: it stays where it starts

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

	Starts Starts // what other starts led to; the zero value where there were none

	last    *fitter
	level   level
	stalled bool // the iteration ended by itself nowhere
	idle    int  // grids in succession on which the fit led to no minimum
	reached *reached
}

// Quantile is what chi-squared of one degree is below with 95 %.
const Quantile = 3.841458820694124

const (
	mostMoved   = 0.1       // of a deviation, that the grid may move an estimate or chi-squared by
	mostValues  = 8_000_000 // of a solution
	mostDoubled = 7
)

// reached is the least sum of squares that was met on a grid.
type reached struct {
	coordinates []float64
	sum         float64
	grid        *grid.Grid
}

// fitter minimises the sum of squares of a model on one grid.
type fitter struct {
	*solved
	ctx      context.Context
	at       []float64 // where the following are
	residual []float64 // (observations, priors)
	jacobian []float64 // (the same, parameters)
	noise    float64   // what solves may leave of all residuals together, in deviations
	err      error     // no solution there
	out      *Fit      // counts evaluations, and keeps what is reached
}

// move evaluates the residuals at theta, unless they are there.
func (f *fitter) move(theta []float64) {
	if slices.Equal(f.at, theta) {
		return
	}
	f.out.Evaluations++
	n := len(theta)
	f.at = append(f.at[:0], theta...)
	f.residual, f.jacobian = f.residual[:0], f.jacobian[:0]
	var values, jac, sizes []float64
	err := f.ctx.Err()
	if err == nil {
		values, jac, sizes, err = f.evaluate(theta)
	}
	if err == nil {
		f.dropRounding(theta, values, jac, sizes)
	}
	f.err, f.noise = err, 0
	for i, o := range f.Observations {
		if err != nil {
			f.residual = append(f.residual, math.NaN())
			f.jacobian = append(f.jacobian, make([]float64, n)...)
			continue
		}
		f.noise = math.Hypot(f.noise, leastDerived*sizes[i]/o.Sigma)
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

// reach keeps where the fitter is for a fit that is interrupted, if no less was met on its grid.
func (f *fitter) reach() {
	if f.err != nil {
		return
	}
	cost, _ := f.cost()
	if last := f.out.reached; last == nil || last.grid != f.grid || 2*cost < last.sum {
		f.out.reached = &reached{slices.Clone(f.at), 2 * cost, f.grid}
	}
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
		func(r, w []float64) { f.move(w); f.reach(); copy(r, f.residual) },
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

// Run fits the parameters, from other starts as well (Model.Starts). Say is told of every grid. The error is that of a problem that cannot
// be solved, ErrStart, or ctx's: then the fit, if any step was taken, has no more than the Coordinates of the last one, its ChiSquared, the
// Grid and the Iterations.
func (m *Model) Run(ctx context.Context, say func(format string, args ...any)) (*Fit, error) {
	out, err := m.fit(ctx, level{}, m.coordinates(), say)
	if err == nil && (m.Starts > 0 || out.stalled || Rejects(out.ChiSquared, out.ChiMoved, out.Degrees)) {
		out, err = m.restart(ctx, out, say)
	}
	if err == nil {
		err = out.findHeld()
	}
	switch {
	case err == nil:
		return out, nil
	case ctx.Err() == nil || out.reached == nil:
		return nil, err
	}
	r := out.reached
	return &Fit{Coordinates: r.coordinates, ChiSquared: r.sum, Grid: r.grid, Iterations: out.Iterations, Evaluations: out.Evaluations}, ctx.Err()
}

// coordinates are where the parameters start.
func (m *Model) coordinates() (theta []float64) {
	for i := range m.Parameters {
		theta = append(theta, m.Parameters[i].Coordinate(m.Parameters[i].Start))
	}
	return theta
}

// fitter makes the fitter of a level, for a fit.
func (m *Model) fitter(ctx context.Context, l level, out *Fit) (*fitter, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s, err := m.solve(l)
	return &fitter{solved: s, ctx: ctx, out: out}, err
}

// fit fits from one start, on grids from a level on. With an error the fit has what was reached.
func (m *Model) fit(ctx context.Context, now level, theta []float64, say func(format string, args ...any)) (*Fit, error) {
	out := &Fit{Coordinates: slices.Clone(theta)}
	at := func(l level) (*fitter, error) { return m.fitter(ctx, l, out) }
	f, err := at(now)
	if err != nil {
		return out, err
	}
	const most = 20
	for k := range most {
		if now, f, err = out.refine(m, now, f, at, say); err != nil {
			return out, err
		}
		out.level = now
		if k == most-1 {
			out.stall("the sum of squares has many minima")
		}
		better, err := out.describe(f, k < most-1)
		if err != nil || better == nil {
			return out, err
		}
		say("a smaller sum of squares is met on the way to an end of an interval: the fit goes on from there")
		copy(out.Coordinates, better)
	}
	return out, nil
}

// stall notes that a fit may not be at its end, and why.
func (out *Fit) stall(why any) {
	out.stalled = true
	out.warn("the fit may not be at its end: %v", why)
}

func (out *Fit) warn(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(out.Warnings, text) {
		out.Warnings = append(out.Warnings, text)
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
