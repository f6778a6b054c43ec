package inverse

import (
	"math"
	"slices"
)

// mostIdle bounds the grids in succession on which a fit leads to no minimum: finer ones are not worth their work then.
const mostIdle = 2

// refine fits on grids from f's on until the next would not move the estimates, and returns the last.
func (out *Fit) refine(m *Model, now level, f *fitter, at func(level) (*fitter, error), say func(string, ...any)) (level, *fitter, error) {
	theta := out.Coordinates
	var by gridMoves
	for {
		res, ends, err := f.minimise(theta)
		if err != nil {
			return now, nil, err
		}
		out.Iterations, out.Ends = out.Iterations+res.Iterations, ends
		stuck := res.Status.Err()
		if stuck != nil {
			out.stall(stuck)
		}
		next, finer, err := m.finer(now, f, theta, ends, at, &by)
		if err != nil {
			return now, nil, err
		}
		out.Refined = by.refined(m.Parameters, theta)
		out.Moved, out.ChiMoved, out.Grid, out.last = max(by.estimates[0], by.estimates[1]), by.sum[0]+by.sum[1], f.grid, f
		if stuck == nil && by.gain < scale(2*res.Cost, len(f.residual)-len(theta)) {
			out.idle = 0
		} else if out.idle++; stuck == nil && out.idle >= mostIdle {
			out.stall("its derivatives say that chi-squared falls, and it does not")
		}
		say("on %v: chi-squared %.6g, the next grid moves it by %.2g and estimates by %.2g deviations", f.grid.Shape(), 2*res.Cost, out.ChiMoved, out.Moved)
		if next == now || out.idle >= mostIdle {
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

// gridMoves has as well steps of the coordinates: what is left on the grid, and what finer grids add.
type gridMoves struct {
	moves
	gain  float64 // what the step that is left on the grid takes from chi-squared
	left  []float64
	added [2][]float64
}

// refined moves coordinates by all steps, where none of them is long.
func (by *gridMoves) refined(parameters []Parameter, theta []float64) []float64 {
	const longest = 0.1 // of a logarithm, beyond which the sum of squares is no parabola
	out := slices.Clone(theta)
	for j := range out {
		step := by.left[j] + by.added[0][j] + by.added[1][j]
		if out[j] += step; parameters[j].Log && !(math.Abs(step) < longest) || max(by.estimates[0], by.estimates[1]) >= mostMoved {
			return slices.Clone(theta)
		}
	}
	return out
}

// finer looks at the grids with twice the points in time, and in space, and returns the level that the estimates and chi-squared ask for,
// its fitter if there is one, and what it moves them by; beyond the limit that is what the grid before did.
func (m *Model) finer(now level, on *fitter, theta []float64, ends []int, at func(level) (*fitter, error), by *gridMoves) (next level, f *fitter, err error) {
	next = now
	on.move(theta)
	own, deviations, sum := on.newtonStep(ends) // not zero where a number runs to an end
	cost, _ := on.cost()
	by.gain, by.left, by.added = 2*cost-sum, own, [2][]float64{make([]float64, len(theta)), make([]float64, len(theta))}
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
		steps, others, fine := x.newtonStep(ends)
		by.estimates[d], by.sum[d], by.unsettled[d] = 0, math.Abs(fine-sum), unsettled(sum, fine, len(on.residual)-len(theta))
		for j, step := range steps {
			by.estimates[d] = max(by.estimates[d], math.Abs(step/others[j]-own[j]/deviations[j]))
		}
		if max(by.estimates[d], by.unsettled[d]) >= mostMoved {
			next, f = level{max(next.time, l.time), max(next.space, l.space)}, x
			continue
		}
		for j, step := range steps {
			by.added[d][j] = step - own[j]
		}
	}
	if next.time > now.time && next.space > now.space {
		f = nil
	}
	return next, f, nil
}

// newtonStep is that of Gauss and Newton where the fitter is, of the parameters that are seen and at no end, with their deviations, and the
// sum of squares that it leads to.
func (f *fitter) newtonStep(ends []int) (steps, deviations []float64, sum float64) {
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
		deviations = append(deviations, math.Inf(1))
		if !x.unseen(j) {
			deviations[j] = math.Sqrt(c[j*n+j])
		}
		steps[j] = -v
	}
	return steps, deviations, 2 * cost
}

// unsettled is what a finer grid moves chi-squared by, in its standard deviation or, where that is more, in parts of what it is above its
// degrees: a fit that is far from the data on every grid needs no better one.
func unsettled(coarse, fine float64, degrees int) float64 {
	m := max(1, float64(degrees))
	return math.Abs(fine-coarse) / max(math.Sqrt(2*m), coarse-m)
}
