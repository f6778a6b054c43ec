// Package constraint makes a basis satisfy a PDE: it combines the basis
// functions b a network proposes by weights ω_k, one vector an expert, so that
// the rows of expert k are least squares, and gives the gradient of a loss of
// the assembled field with respect to b through the implicit function theorem
// (docs/reference/constraint.md; paper, section 3).
//
// With C unknowns a basis function has C components of P values, unknown after unknown,
// and so has a field: what is (P) for one is (C, P). The components of a function have one
// weight, or with Options.Separate one each.
//
// Everything is float64 but the basis of a float32 network on a problem with spectral
// terms, and its rows; sums over them are float64 too. A Constraint is the static part:
// the problem on its grid, the router, the options. A Workspace holds the memory of one
// solve and its backward pass:
//
//	memory := c.NewWorkspace()
//	rows := memory.Assemble(input)                the rows of every expert, from the basis (N, C, P) of a network
//	x := rows.Solve()                             ω_k of every expert
//	u := x.Field()                                û (C, P), to evaluate a loss
//	jump, slope := x.Jumps()                      how experts differ along their borders
//	x.Backward(bbar, ubar, weights...)            ∂L/∂b from ∂L/∂û and the weights of the jumps
//
// Work is divided into pieces that do not depend on the number of workers, and
// every sum is formed in a fixed order: results are bitwise equal for any
// number of workers.
package constraint

import (
	"errors"
	"fmt"
	"slices"

	"pihc/compute"
	"pihc/grid"
	"pihc/internal/words"
	"pihc/lm"
	"pihc/pde"
)

// Options says how the constraint is imposed.
type Options struct {
	// Experts is the number of subdomains along each axis; missing means 1. Router is the name of
	// what divides the domain, "" of DefaultRouter.
	Experts []int
	Router  string
	// Points is the number of residual rows sampled in each subdomain; 0 means
	// all of them.
	Points int
	// Overlap says that Assemble may be asked to take a fraction of an expert's rows
	// from outside its subdomain (Input.Overlap).
	Overlap bool
	// Weights multiply the rows of a set of rows by name (default 1), on top of
	// the PDE file's weights.
	Weights map[string]float64
	// Mean divides the squares of each set by its number of rows, so that the
	// balance between sets does not depend on how many points are sampled. The
	// published code does not (false).
	Mean bool
	// LocalConditions restricts initial and boundary rows to the expert's
	// subdomain. The paper gives every expert the global conditions (false).
	LocalConditions bool
	// RepeatInitial states the initial rows that many times, as the published
	// single constraint does by broadcasting the initial condition over all
	// times (docs/reference/constraint.md, Q1); 0 and 1 mean once.
	RepeatInitial int
	// Start is the value of every weight where each solve starts.
	Start float64
	// Fixed skips the solve: every weight is Start. With one basis function and
	// Start = 1 this is the network's own field (PI-SC).
	Fixed bool
	// Separate gives every component of a basis function a weight of its own: N·C
	// unknown weights instead of N.
	Separate bool
	// Blend is the half width of bands around borders in which Solution.Field goes over from one expert to its neighbour, as a
	// fraction of the narrower subdomain, at most 1/2; 0: fields end at borders. With it there is no Backward.
	Blend float64
	// Directions is the number of further functions, after those of the network, that Load
	// takes as fields: constants for Backward.
	Directions int
	// Solver are the options of Levenberg-Marquardt.
	Solver lm.Options
	// Adjoint is the matrix of the gradient, lm.HessianExact or lm.HessianGaussNewton.
	Adjoint lm.Hessian
	// PaperAdjoint leaves the derivative of J out of the right-hand side, as the text of the
	// paper does, which differentiates r(ω, b) = 0: right only for consistent systems.
	PaperAdjoint bool
}

// Constraint is a PDE constraint on a grid.
type Constraint struct {
	System     *pde.System // or this rank's part of it
	Options    Options
	Router     Router
	Functions  int              // of the basis, and Directions
	N          int              // weights: Functions, or Separate one for every component
	Smoothers  [][]pde.Smoother // of the ansatz, per unknown
	Propagator *grid.Propagator // of the ansatz, or nil
	Borders    []Border         // every pair of neighbours along every axis, in the order of sums over borders

	stored     int         // functions in memory: Functions, or N of components that are functions of their own
	division   *Division   // of the whole grid
	candidates [][][]int32 // per residual and expert: its rows
	ranks      [][][]int32 // and their positions among the rows of all, where rows of others may be sampled too
	runs       []runs      // per expert: its points, on the grid or the part of it
	blended    []blended   // points near borders, with Options.Blend
	along      [][]blended // per axis and index, subdomains counted along the axis
	pairs      []pair
	allPairs   int        // of the whole grid
	multiplier []float64  // (C, P); nil when 1
	combined   []combined // terms whose rows are kept with those of another
	pool       *compute.Pool
}

// New prepares a constraint for n basis functions. The router is made from the
// options; a non-nil router is used as it is (the one of training).
func New(s *pde.System, n int, o Options, router Router, pool *compute.Pool) (*Constraint, error) {
	for name := range o.Weights {
		if s.Set(name) == nil {
			names := make([]string, len(s.Sets))
			for i, set := range s.Sets {
				names[i] = set.Name
			}
			return nil, fmt.Errorf("constraint weights: no rows are called %q; there are %s", name, words.List(names))
		}
	}
	if !o.Fixed && !slices.ContainsFunc(s.Sets, func(set *pde.RowSet) bool { w, given := o.Weights[set.Name]; return w != 0 || !given }) {
		return nil, errors.New("constraint weights: they are 0 for all rows, and there is nothing to solve")
	}
	all := s.All()
	var err error
	if router == nil {
		if router, err = o.NewRouter(all.Grid); err != nil {
			return nil, err
		}
	}
	c := &Constraint{System: s, Options: o, Router: router, Functions: n + o.Directions, N: n + o.Directions, pool: pool}
	if c.division, err = Divide(router, all.Grid); err != nil {
		return nil, err
	}
	if o.Separate {
		c.N *= len(s.Problem.Unknowns)
	}
	for _, set := range all.Residuals() {
		var own, ranks [][]int32
		for k := range router.Experts() {
			points := c.division.rowsAmong(set.Points, k)
			if !o.Fixed && len(points) == 0 {
				return nil, fmt.Errorf("experts: expert %d has no residual rows", k)
			}
			if !o.Fixed && o.Points > len(points) {
				return nil, fmt.Errorf("points: %d asked for, but the subdomain of expert %d holds %d residual rows on this grid; ask for at most that, or 0 for all", o.Points, k, len(points))
			}
			own = append(own, points)
			if o.Overlap {
				ranks = append(ranks, positions(set.Points, points))
			}
		}
		c.candidates, c.ranks = append(c.candidates, own), append(c.ranks, ranks)
	}
	c.multiplier = s.Multiplier()
	if c.Smoothers, err = s.Smoothers(); err != nil {
		return nil, err
	}
	c.stored = c.Functions
	if s.Problem.Unknowns[0].Ansatz.ByRows {
		if _, err = s.NewLinearRows(); err != nil {
			return nil, fmt.Errorf("ansatz: duhamel: rows: %w", err)
		}
	}
	if c.Propagator, err = s.Propagator(); err != nil {
		return nil, fmt.Errorf("ansatz: duhamel: %w", err)
	} else if c.Propagator != nil && c.Propagator.Coupled || s.Problem.Unknowns[0].Ansatz.ByRows && len(s.Problem.Unknowns) > 1 {
		c.stored = c.N // of a component that has its own weight the linear part makes a field of all unknowns
	}
	c.findBorders()
	c.findRuns()
	c.combineTerms()
	if o.Blend < 0 || o.Blend > 0.5 {
		return nil, fmt.Errorf("blend %g: want 0 to 0.5", o.Blend)
	}
	if o.Blend > 0 && router.Experts() > 1 {
		if err := c.findBlended(o.Blend); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// positions returns where those of some points are among all of them; both ascend.
func positions(all, some []int32) []int32 {
	out, at := make([]int32, len(some)), 0
	for i, p := range some {
		for all[at] != p {
			at++
		}
		out[i] = int32(at)
	}
	return out
}

// runs are points of the grid, or of the own slices of a part of it, in ranges [lo, hi), each within
// one line along the last axis; those of slice i are at[start[i]:start[i+1]].
type runs struct {
	start []int
	at    [][2]int
}

// findRuns lists the points of every expert.
func (c *Constraint) findRuns() {
	g, width := c.System.Grid, c.System.SliceSize()
	line := min(width, g.Axes[len(g.Axes)-1].Points)
	first, end := c.System.OwnPoints()
	c.runs = make([]runs, c.Router.Experts())
	for lo := 0; lo <= g.Size(); lo += width {
		for k := range c.runs {
			c.runs[k].start = append(c.runs[k].start, len(c.runs[k].at))
		}
		for p := max(lo, first); p < min(lo+width, end); p++ {
			r := &c.runs[c.Expert(p+c.System.FirstPoint())]
			if last := len(r.at) - 1; last >= 0 && r.at[last][1] == p && p%line > 0 {
				r.at[last][1]++
			} else {
				r.at = append(r.at, [2]int{p, p + 1})
			}
		}
	}
}

// Points returns the points of a set's rows in an expert's solve, ascending, on the whole
// grid. Those of the residual are only as many where SamplePoints draws them.
func (c *Constraint) Points(set *pde.RowSet, expert int) []int32 {
	all := c.System.All()
	switch {
	case set.Kind == pde.ResidualRows && c.Options.Points > 0:
		return make([]int32, c.Options.Points)
	case set.Kind == pde.ResidualRows:
		return slices.Clone(c.candidates[slices.Index(all.Residuals(), set)][expert])
	case c.Options.LocalConditions:
		return c.division.rowsAmong(set.Solved, expert)
	}
	return slices.Clone(set.Solved)
}

// combined says that the rows of a spectral term, times factor, are kept added to those
// of a term with a stencil.
type combined struct {
	term, with int
	factor     float64
}

// combineTerms looks for spectral terms that enter the rows of one set as a constant
// times what a term of the same unknown with a stencil does, itself a constant: only the sum of the two
// matters, one matrix instead of two. (In w_t - nu·lap that is w_t's, with the factor
// -nu.)
func (c *Constraint) combineTerms() {
	terms, problem := c.System.Terms, c.System.Problem
	sets := make([]int, len(terms)) // that use a term
	for _, set := range c.System.Sets {
		for _, t := range set.Terms {
			sets[t]++
		}
	}
	for i, rows := range problem.AllRows() {
		// slope is the constant derivative by a term that no other set has.
		slope := func(t int) (v float64, ok bool) {
			v, ok = rows.Expr.Diff(terms[t].Name).Constant()
			return v, ok && v != 0 && sets[t] == 1 && !rows.Weight.DependsOn(terms[t].Name)
		}
		for unknown := range problem.Unknowns {
			with, divisor := -1, 0.0
			for _, t := range c.System.Sets[i].Terms {
				if v, ok := slope(t); ok && terms[t].Of == unknown && !terms[t].Spectral() && with < 0 {
					with, divisor = t, v
				}
			}
			for _, t := range c.System.Sets[i].Terms {
				if v, ok := slope(t); ok && terms[t].Of == unknown && terms[t].Spectral() && with >= 0 {
					c.combined = append(c.combined, combined{t, with, v / divisor})
				}
			}
		}
	}
}

// kept reports whether a term has rows of its own.
func (c *Constraint) kept(term int) bool {
	return !slices.ContainsFunc(c.combined, func(x combined) bool { return x.term == term })
}

// RowScale is what multiplies the squares of a set with count rows.
func (o *Options) RowScale(set *pde.RowSet, count int) float64 {
	w := 1.0
	if v, ok := o.Weights[set.Name]; ok {
		w = v
	}
	scale := w * w
	if o.Mean {
		scale /= float64(count)
	}
	if set.Kind == pde.InitialRows && o.RepeatInitial > 1 {
		scale *= float64(o.RepeatInitial)
	}
	return scale
}
