package constraint

import (
	"fmt"
	"math"

	"pihc/grid"
	"pihc/internal/kernel"
	"pihc/pde"
)

// A linear problem is solved once its gradient is cglsTolerance of the first of all, and the
// minimiser is found once a step is cglsFinal of the distance gone so far.
const (
	cglsTolerance = 1e-6
	cglsFinal     = 1e-3
)

// An iterative minimiser of all rows over the grid values that the ansatz leaves open: Gauss-Newton
// steps by conjugate gradients on the normal equations (CGLS; Hestenes & Stiefel 1952; Björck 1996,
// section 7.4), with J as products of terms and of their transposes. It takes any term, and
// more iterations the worse the rows are conditioned.
type iterative struct {
	sys      *pde.System
	c        *Constraint
	gatherer *grid.Gatherer
	sets     []*iterativeSet
	at, step []grid.Rows[float64] // terms of the field and of a direction, of every set
	fixed    []bool               // (C, P); nil: none
	first    float64              // square of the gradient at the start
	work     float64              // values of terms formed so far
	most     float64              // of these
}

// iterativeSet is one set of rows; out are its residual and derivatives at the field.
type iterativeSet struct {
	*pde.PointRows
	evaluator *pde.Evaluator
	scale     float64 // root of the weight of each row
	out       [][]float64
}

func newIterative(sys *pde.System, o Options, initial []float64, fixed []bool, most float64) *iterative {
	f := &iterative{fixed: fixed, most: most, sys: sys, c: &Constraint{System: sys, Options: o}, gatherer: sys.NewGatherer(nil)}
	for _, set := range sys.Sets {
		s := &iterativeSet{PointRows: sys.NewPointRows(set, set.Solved), evaluator: sys.NewEvaluator(len(set.Solved))}
		s.scale = math.Sqrt(f.c.RowScale(set, len(set.Solved)))
		s.Prepare()
		s.SetInitial(initial)
		f.sets, f.at, f.step = append(f.sets, s), append(f.at, s.NewValues()), append(f.step, s.NewValues())
	}
	return f
}

// linearise evaluates all rows and their derivatives at u (C, P), and returns the cost.
func (f *iterative) linearise(u []float64) float64 {
	f.gather(u, f.at)
	cost := 0.0
	for k, s := range f.sets {
		s.out = s.evaluator.Eval(s.PointRows, pde.FirstDerivatives, f.at[k].Values, 0, len(s.Points))
		cost += 0.5 * s.scale * s.scale * kernel.SumSquares64(s.out[0])
	}
	return cost
}

func (f *iterative) gather(u []float64, rows []grid.Rows[float64]) {
	grid.Gather(f.gatherer, u, 1, rows)
	for k := range rows {
		f.work += float64(len(rows[k].Points) * len(rows[k].Values))
	}
}

// rows allocates a number for each row.
func (f *iterative) rows() [][]float64 {
	var out [][]float64
	for _, s := range f.sets {
		out = append(out, make([]float64, len(s.Points)))
	}
	return out
}

// apply sets out to J v.
func (f *iterative) apply(out [][]float64, v []float64) {
	f.gather(v, f.step)
	for k, s := range f.sets {
		clear(out[k])
		for j, y := range f.step[k].Values {
			for i, slope := range s.out[1+j] {
				out[k][i] += s.scale * slope * y[i]
			}
		}
	}
}

// transposed sets g to Jᵀ r.
func (f *iterative) transposed(g []float64, r [][]float64) {
	for k, s := range f.sets {
		for j, y := range f.step[k].Values {
			for i, slope := range s.out[1+j] {
				y[i] = s.scale * slope * r[k][i]
			}
		}
		f.work += float64(len(s.Points) * len(f.step[k].Values))
	}
	clear(g)
	lists := make([][]grid.Rows[float64], 1)
	lists[0] = f.step
	f.gatherer.Scatter([][]float64{g}, lists)
	f.restrict(g)
}

// restrict keeps of a change of the field what the ansatz can express.
func (f *iterative) restrict(v []float64) {
	for p, fixed := range f.fixed {
		if fixed {
			v[p] = 0
		}
	}
	width := f.sys.SliceSize()
	for lo := 0; lo < len(v); lo += width {
		if !f.c.removesMean(lo / width) {
			continue
		}
		mean := 0.0
		for _, x := range v[lo : lo+width] {
			mean += x
		}
		kernel.AddScalar64(v[lo:lo+width], v[lo:lo+width], -mean/float64(width))
	}
}

// minimise moves u, near the minimiser, to it, and returns the number of Gauss-Newton steps.
func (f *iterative) minimise(u []float64) (steps int, err error) {
	if least := 200 * float64(len(u)*len(f.sys.Terms)); least > f.most { // a hundred iterations
		return 0, fmt.Errorf("%w: %d values", ErrLarge, len(u))
	}
	start, trial, step := append([]float64(nil), u...), make([]float64, len(u)), make([]float64, len(u))
	cost := f.linearise(u)
	for steps < 60 {
		steps++
		if !f.solve(step) {
			return steps, fmt.Errorf("%w: step %d ran out of iterations", ErrLarge, steps)
		}
		next, length := math.Inf(1), 1.0
		for ; length > 1e-3; length /= 2 {
			for i := range u {
				trial[i] = u[i] - length*step[i]
			}
			if next = f.linearise(trial); next <= cost*(1+1e-12) {
				break
			}
		}
		if !(next <= cost*(1+1e-12)) {
			return steps, fmt.Errorf("%w in %d steps", ErrFloor, steps)
		}
		copy(u, trial)
		moved, gone := length*grid.Norm(step), grid.Distance(u, start)
		if moved <= cglsFinal*gone || moved <= 1e-12*grid.Norm(u) || cost-next <= 1e-9*cost {
			return steps, nil
		}
		cost = next
	}
	return steps, fmt.Errorf("%w in %d steps", ErrFloor, steps)
}

// solve sets x to the least-squares solution of J x = r, and reports whether it was found.
func (f *iterative) solve(x []float64) bool {
	clear(x)
	r, q := f.rows(), f.rows()
	for k, s := range f.sets {
		for i, v := range s.out[0] {
			r[k][i] = s.scale * v
		}
	}
	g := make([]float64, len(x))
	f.transposed(g, r)
	p := append([]float64(nil), g...)
	gamma := kernel.SumSquares64(g)
	if f.first == 0 {
		f.first = gamma
	}
	for gamma > cglsTolerance*cglsTolerance*f.first {
		if f.work > f.most {
			return false
		}
		f.apply(q, p)
		curvature := 0.0
		for k := range q {
			curvature += kernel.SumSquares64(q[k])
		}
		alpha := gamma / curvature
		kernel.Axpy64(x, alpha, p)
		for k := range r {
			kernel.Axpy64(r[k], -alpha, q[k])
		}
		f.transposed(g, r)
		next := kernel.SumSquares64(g)
		beta := next / gamma
		for i, v := range g {
			p[i] = v + beta*p[i]
		}
		gamma = next
	}
	return !math.IsNaN(gamma)
}
