// Package constraint makes a basis satisfy a PDE: it combines the basis
// functions b a network proposes by weights ω_k, one vector an expert, so that
// the rows of expert k are least squares, and gives the gradient of a loss of
// the assembled field with respect to b through the implicit function theorem
// (DESIGN, section 1; paper, section 3).
//
// Everything here is float64, but for the stored basis and rows of a float32
// network on a problem with spectral terms. A Constraint is the static part: the problem on
// its grid, the router, the options. A Sample holds the memory of one solve and
// its backward pass:
//
//	s.Load(basis, initial)      basis (N, P) of the network, float32 or float64
//	s.Solve(rng)                ω_k of every expert
//	s.Field()                   û (P), to evaluate a loss
//	s.Backward(bbar, ubar)      ∂L/∂b from ∂L/∂û
//
// Work is divided into pieces that do not depend on the number of workers, and
// every sum is formed in a fixed order: results are bitwise equal for any
// number of workers.
package constraint

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"pihc/grid"
	"pihc/internal/kernel"
	"pihc/lm"
	"pihc/pde"
)

// Options says how the constraint is imposed.
type Options struct {
	// Experts is the number of subdomains along each axis; missing means 1.
	Experts []int
	// Points is the number of residual rows sampled in each subdomain; 0 means
	// all of them.
	Points int
	// Overlap says that Solve may be asked to take a fraction of an expert's rows
	// from outside its subdomain (see Sample.SetOverlap).
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
	// times (authors' notes, Q1); 0 and 1 mean once.
	RepeatInitial int
	// Start is the value of every weight where each solve starts.
	Start float64
	// Fixed skips the solve: every weight is Start. With one basis function and
	// Start = 1 this is the network's own field (PI-SC).
	Fixed bool
	// Solver are the options of Levenberg-Marquardt.
	Solver lm.Options
	// Adjoint chooses the gradient: lm.AdjointExact, lm.AdjointGaussNewton or lm.AdjointPaper.
	Adjoint lm.AdjointMode
}

// Constraint is a PDE constraint on a grid for N basis functions.
type Constraint struct {
	System  *pde.System
	Options Options
	Router  *Router
	Windows []grid.Window
	N       int

	candidates [][]int32 // residual rows of each expert
	elsewhere  [][]int32 // and of all others, where rows may be sampled there
	borders    []border
	multiplier []float64    // nil when 1
	offset     *pde.Program // g_0 from the coordinates and the initial condition; nil when 0
	axes       [][]float64  // coordinates of every grid point, per axis that rows read
	spectral   []int        // terms that act on slices by Fourier transforms
	dense      *grid.Dense  // the same terms for a float32 basis, or nil
	// merged[t] is the term whose rows take in those of term t, or -1: see findMerged.
	merged []int
	pool   *kernel.Pool
}

// border is a pair of neighbouring experts along an axis, and the points next
// to their common border: below[i] in the lower subdomain and its neighbour
// below[i]+stride in the upper one, a step apart. Across the seam of a periodic
// axis the last expert is the lower one and stride is negative.
type border struct {
	lower, upper int
	below        []int32
	stride       int32
	step         float64 // of the axis, as a fraction of its length
}

// New prepares a constraint. The router is made uniformly from
// Options.Experts; a non-nil router is used as it is (the one of training).
func New(s *pde.System, n int, o Options, router *Router, pool *kernel.Pool) (*Constraint, error) {
	for name := range o.Weights {
		if s.Set(name) == nil {
			names := make([]string, len(s.Sets))
			for i, set := range s.Sets {
				names[i] = set.Name
			}
			return nil, fmt.Errorf("constraint weights: no rows are called %q; there are %s", name, strings.Join(names, ", "))
		}
	}
	if router == nil {
		router = NewRouter(s.Grid, o.Experts)
	}
	windows, err := router.Windows(s.Grid)
	if err != nil {
		return nil, err
	}
	c := &Constraint{System: s, Options: o, Router: router, Windows: windows, N: n, pool: pool}
	for k, w := range windows {
		points := inWindow(s.Grid, w, s.Sets[0].Points)
		if !o.Fixed && len(points) == 0 {
			return nil, fmt.Errorf("experts: expert %d has no residual rows", k)
		}
		if !o.Fixed && o.Points > len(points) {
			return nil, fmt.Errorf("points: %d asked for, but the subdomain of expert %d holds %d residual rows on this grid; ask for at most that, or 0 for all", o.Points, k, len(points))
		}
		c.candidates = append(c.candidates, points)
		if o.Overlap {
			inside := make(map[int32]bool, len(points))
			for _, p := range points {
				inside[p] = true
			}
			var others []int32
			for _, p := range s.Sets[0].Points {
				if !inside[p] {
					others = append(others, p)
				}
			}
			c.elsewhere = append(c.elsewhere, others)
		}
	}
	if s.HasMultiplier() {
		c.multiplier = make([]float64, s.Grid.Size())
		s.Multiplier(c.multiplier)
	}
	c.findBorders()
	if !o.Fixed {
		c.findSpectral()
	}
	c.axes = make([][]float64, len(s.Grid.Axes))
	need := func(axis int) {
		if c.axes[axis] == nil {
			c.axes[axis] = coordinates(s.Grid, axis)
		}
	}
	for _, set := range s.Sets {
		for _, x := range set.Extras {
			if x.Axis >= 0 {
				need(x.Axis)
			}
		}
	}
	if s.HasOffset() {
		offset := s.Problem.Ansatz.Offset
		names := s.Problem.AxisNames()
		for a, name := range names {
			if offset.DependsOn(name) {
				need(a)
			}
		}
		if c.offset, err = pde.Compile([]*pde.Expr{offset}, append(names, s.Problem.InitialName())); err != nil {
			return nil, fmt.Errorf("ansatz offset: %w", err)
		}
	}
	return c, nil
}

// coordinates returns the coordinate of every grid point along one axis.
func coordinates(g *grid.Grid, axis int) []float64 {
	out := make([]float64, g.Size())
	stride, points := g.Strides()[axis], g.Axes[axis].Points
	for p := range out {
		out[p] = g.Axes[axis].Coordinate(p / stride % points)
	}
	return out
}

// inWindow returns the points that lie in w, in order.
func inWindow(g *grid.Grid, w grid.Window, points []int32) []int32 {
	strides := g.Strides()
	var in []int32
	for _, p := range points {
		inside := true
		rest := int(p)
		for a, s := range strides {
			i := rest / s
			rest %= s
			inside = inside && i >= w.Lo[a] && i < w.Hi[a]
		}
		if inside {
			in = append(in, p)
		}
	}
	return in
}

// findBorders lists the faces between windows: for each pair that touches
// along one axis, inside the domain or across the seam of a periodic axis, the
// points on both sides.
func (c *Constraint) findBorders() {
	g := c.System.Grid
	for k, w := range c.Windows {
		for l, v := range c.Windows {
			axis, seam := -1, false
			for a, along := range g.Axes {
				same := w.Lo[a] == v.Lo[a] && w.Hi[a] == v.Hi[a]
				around := along.Boundary == grid.Periodic && !same && w.Hi[a] == along.Points && v.Lo[a] == 0
				if (w.Hi[a] == v.Lo[a] || around) && axis == -1 {
					axis, seam = a, around
				} else if !same {
					axis = -2
					break
				}
			}
			if axis < 0 {
				continue
			}
			face := grid.Window{Lo: slices.Clone(w.Lo), Hi: slices.Clone(w.Hi)}
			face.Lo[axis] = w.Hi[axis] - 1
			along, stride := g.Axes[axis], g.Strides()[axis]
			if seam {
				stride *= 1 - along.Points
			}
			c.borders = append(c.borders, border{
				k, l, face.Points(g), int32(stride), along.Step() / (along.Hi - along.Lo),
			})
		}
	}
}

// findSpectral lists the spectral terms that rows use.
func (c *Constraint) findSpectral() {
	var ops []grid.DenseOperator
	merged, factors := c.findMerged()
	for t, op := range c.System.Terms {
		used := slices.ContainsFunc(c.System.Sets, func(s *pde.RowSet) bool { return slices.Contains(s.Terms, t) })
		if used && grid.SpectralOf(op.Operator) != nil {
			c.spectral = append(c.spectral, t)
			ops = append(ops, grid.DenseOperator{Operator: op.Operator, Add: merged[t] >= 0, Factor: factors[t]})
		}
	}
	if len(ops) > 0 {
		c.dense = grid.SpectralOf(ops[0].Operator).NewDense(ops)
	}
	c.merged = merged
}

// findMerged looks for a spectral term that enters its rows as a constant times
// what a term with a stencil does, itself a constant: the rows of float32 bases
// then hold the sum of the two, one matrix instead of two. (In w_t - nu·lap that is
// w_t's, with the factor -nu.)
func (c *Constraint) findMerged() (into []int, factors []float64) {
	terms, problem := c.System.Terms, c.System.Problem
	into, factors = make([]int, len(terms)), make([]float64, len(terms))
	sets := make([]int, len(terms)) // that use a term
	for t := range terms {
		into[t] = -1
		for _, set := range c.System.Sets {
			if slices.Contains(set.Terms, t) {
				sets[t]++
			}
		}
	}
	rows := append([]pde.Rows{problem.Residual}, problem.Conditions...)
	for i, set := range c.System.Sets {
		host, slope := -1, 0.0
		for _, t := range set.Terms {
			if grid.SpectralOf(terms[t].Operator) != nil || sets[t] > 1 {
				continue
			}
			if v, ok := rows[i].Expr.Diff(terms[t].Name).Constant(); ok && v != 0 {
				host, slope = t, v
				break
			}
		}
		for _, t := range set.Terms {
			if host < 0 || grid.SpectralOf(terms[t].Operator) == nil || sets[t] > 1 || rows[i].Weight.DependsOn(terms[t].Name) || rows[i].Weight.DependsOn(terms[host].Name) {
				continue
			}
			if v, ok := rows[i].Expr.Diff(terms[t].Name).Constant(); ok {
				into[t], factors[t] = host, v/slope
			}
		}
	}
	return into, factors
}

// Expert returns the expert whose subdomain holds grid point p.
func (c *Constraint) Expert(p int) int {
	idx := make([]int, len(c.System.Grid.Axes))
	c.System.Grid.Unravel(p, idx)
	for k, w := range c.Windows {
		if w.Contains(idx) {
			return k
		}
	}
	panic("constraint: point outside the grid")
}

// rowScale is what multiplies the squares of a set with count rows.
func (c *Constraint) rowScale(set *pde.RowSet, count int) float64 {
	w := 1.0
	if v, ok := c.Options.Weights[set.Name]; ok {
		w = v
	}
	scale := w * w
	if c.Options.Mean {
		scale /= float64(count)
	}
	if set.Kind == pde.InitialRows && c.Options.RepeatInitial > 1 {
		scale *= float64(c.Options.RepeatInitial)
	}
	return scale
}

// Crossing tells, for every residual row of the grid, whether its stencils
// reach into the subdomain of another expert: there the residual of the
// assembled field sees the jump between two experts. Spectral terms see it
// everywhere, but the response to a jump falls off like 1/distance, and four fifths
// of its square is at the two points beside the border: those rows count as
// crossing.
func (c *Constraint) Crossing() []bool {
	g, set := c.System.Grid, c.System.Sets[0]
	crossing := make([]bool, len(set.Points))
	at := make(map[int32]int, len(set.Points))
	for i, p := range set.Points {
		at[p] = i
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for _, w := range c.Windows {
		// A field that is zero inside the window: a row there that is not zero
		// has reached outside.
		outside := make([]float64, g.Size())
		for i := range outside {
			outside[i] = 1 + rng.Float64()
		}
		for _, p := range w.Points(g) {
			outside[p] = 0
		}
		points := inWindow(g, w, set.Points)
		z := make([]float64, len(points))
		for _, t := range set.Terms {
			if grid.SpectralOf(c.System.Terms[t].Operator) != nil {
				continue
			}
			c.System.Terms[t].Gather(z, outside, 1, points)
			for i, v := range z {
				if v != 0 {
					crossing[at[points[i]]] = true
				}
			}
		}
	}
	spectral := slices.ContainsFunc(set.Terms, func(t int) bool { return grid.SpectralOf(c.System.Terms[t].Operator) != nil })
	for _, b := range c.borders {
		// Spectral terms act within a slice.
		if !spectral || max(b.stride, -b.stride) >= int32(g.Strides()[0]) {
			continue
		}
		for _, p := range b.below {
			for _, q := range [2]int32{p, p + b.stride} {
				if i, ok := at[q]; ok {
					crossing[i] = true
				}
			}
		}
	}
	return crossing
}
