package discrete

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"pihc/grid"
	"pihc/internal/kernel"
	"pihc/pde"
	"pihc/sim"
)

// ErrNotConverged says that no solution of the rows was found.
var ErrNotConverged = errors.New("the rows of the problem could not be solved")

// Solver solves the rows of a problem on a refined grid and keeps the points of the
// grid asked for. It may be used by several goroutines at once.
type Solver struct {
	grid, fine *grid.Grid
	fields     int // unknowns of the problem
	march      *march
	whole      *system     // where the first axis is not time
	first      *Solver     // on the grid itself, whose solution Newton's method on the finer one begins with, or nil
	semilinear *semilinear // marched by its linear part; nil: by Radau IIA
	tolerance  float64     // of its steps
	halvings   int         // of an interval of the grid that an exponential step is at most
	inputs     []input
}

// input is one input on both grids.
type input struct {
	coarse, fine pde.PlacedInput
	weights      []*grid.Interpolation // per axis, from the coarser points to the finer; nil where they are the same
}

// mostWeights bounds an interpolation along a periodic axis: a gigabyte.
const mostWeights = 1 << 27

// New returns the solver of a problem for solutions on g, whose rows hold on a grid
// with refine[i] times the points of axis i: of its intervals on an axis of nodes.
// Along time they are steps from one point to the next. Factors for axes of cells are
// odd, so that the centres meet.
func New(p *pde.Problem, g *grid.Grid, refine []int) (*Solver, error) {
	return newSolver(p, g, refine, thorough)
}

// NewRough is New for solutions of four digits, to compare with what has fewer: several times faster.
func NewRough(p *pde.Problem, g *grid.Grid, refine []int) (*Solver, error) {
	e := rough
	if len(g.Axes) >= 3 && Marches(p) { // GMRES needs few iterations for short steps
		e.dense = 200
	}
	return newSolver(p, g, refine, e)
}

func newSolver(p *pde.Problem, g *grid.Grid, refine []int, e effort) (*Solver, error) {
	s := &Solver{grid: g, fine: refined(g, refine), fields: len(p.Unknowns)}
	for i, a := range g.Axes {
		if refine[i] < 1 || a.Boundary == grid.Cells && refine[i]%2 == 0 {
			return nil, fmt.Errorf("axis %s (%s): refined by %d; want a positive number, odd for cells", a.Name, a.Boundary, refine[i])
		}
	}
	fine := p.PlaceInputs(s.fine)
	for i, in := range p.PlaceInputs(g) {
		x := input{coarse: in, fine: fine[i]}
		if err := checkRings(in.Name, in.Space, fine[i].Space); err != nil && !in.Nearest {
			return nil, err
		}
		for a, axis := range in.Space {
			x.weights = append(x.weights, interpolation(axis, fine[i].Space[a], in.Nearest))
		}
		s.inputs = append(s.inputs, x)
	}
	var err error
	var why string
	if s.march, why, err = newMarch(p, s.fine.Axes, g.Axes[0].Coordinates(), refine[0], stages, e); err != nil {
		return nil, fmt.Errorf("problem %s: reference: %w", p.Name, err)
	}
	if s.march == nil {
		sys, err := p.Discretize(s.fine)
		if err == nil {
			err = checkRings("a solution", g.Axes, s.fine.Axes) // which a finer one begins with
		}
		if err == nil {
			s.whole, err = newSystem(sys, nil, e)
		}
		if err == nil && s.whole.count < s.whole.values() {
			err = fmt.Errorf("%d rows for %d values", s.whole.count, s.whole.values())
		}
		if err != nil && why != "" {
			err = fmt.Errorf("%w; all of %s is solved at once, since %s", err, p.Axes[0].Name, why)
		}
		if err != nil {
			return nil, fmt.Errorf("problem %s: reference: %w", p.Name, err)
		}
		if s.fine.Size() > 2*g.Size() && slices.ContainsFunc(sys.Sets, func(set *pde.RowSet) bool { return !set.Linear }) {
			s.first, _ = newSolver(p, g, slices.Repeat([]int{1}, len(g.Axes)), e)
		}
	}
	return s, nil
}

// refined is a grid with refine[i] times the points of axis i: of its intervals on an axis of nodes.
func refined(g *grid.Grid, refine []int) *grid.Grid {
	fine := &grid.Grid{Axes: slices.Clone(g.Axes)}
	for i := range fine.Axes {
		a := &fine.Axes[i]
		if a.Boundary == grid.Nodes {
			a.Points = (a.Points-1)*refine[i] + 1
		} else {
			a.Points *= refine[i]
		}
	}
	return fine
}

// Refinements returns how much finer than g the grid of solutions is, as the problem
// states it or chosen so that most equations are solved to 1e-3 in seconds, and others
// to compare with: about half as fine, finer along axes that are not refined, and, where that keeps
// every second point of the finer grids or fewer and misses what alternates from point to
// point, one less along these axes.
func Refinements(p *pde.Problem, g *grid.Grid) (fine []int, others [][]int) {
	var half, odd []int
	spectral := slices.ContainsFunc(p.Terms, func(t pde.Term) bool { return t.Spectral != nil })
	large := false
	if !Marches(p) {
		var most []int
		for _, a := range g.Axes {
			if most = append(most, 4); a.Boundary == grid.Cells {
				most[len(most)-1] = 9
			}
		}
		large = factorWork(len(p.Unknowns), refined(g, most)) > thorough.direct
	}
	for i, a := range g.Axes {
		f, c := 4, 2
		switch {
		case i == 0 && Marches(p):
			f, c = 2, 1
		case spectral || large || len(g.Axes) > 2 || !p.Steady && !Marches(p): // all of time at once is large soon
			f, c = 2, 1
			if a.Boundary == grid.Cells {
				f = 3
			}
		case a.Boundary == grid.Cells:
			f, c = 9, 3
		}
		if n, ok := p.Reference.Refine[a.Name]; ok {
			f, c = n, n/2
			switch cells := a.Boundary == grid.Cells; {
			case n == 1 && cells:
				c = 3
			case n == 1:
				c = 2
			case cells && c%2 == 0:
				c--
			}
		}
		fine, half, odd = append(fine, f), append(half, c), append(odd, f)
		if f%2 == 0 && c%2 == 0 && f > c {
			odd[i] = f - 1
		}
	}
	if others = [][]int{half}; !slices.Equal(odd, fine) {
		others = append(others, odd)
	}
	return fine, others
}

// factorWork is about the work of a factorisation of second-order rows on all points of a grid at once: line by line, or divided by lines into
// parts as long as wide.
func factorWork(unknowns int, g *grid.Grid) float64 {
	least, values := math.Inf(1), float64(unknowns*g.Size())
	for _, a := range g.Axes {
		line := values / float64(a.Points)
		if a.Boundary == grid.Periodic { // from both ends at once
			line *= 2
		}
		divided := dividedWork * 20 * line * line * max(line, float64(unknowns*a.Points))
		least = min(least, 2*values*line*line, divided)
	}
	return least
}

// Marches reports whether the first axis of a problem is time: the file does not say that
// none is, residuals have derivatives of order 1 or 2 along it, and no condition holds at
// its high end. Of several unknowns some may have none, if the others' are of order 1;
// otherwise all have the same order.
func Marches(p *pde.Problem) bool {
	return !p.Steady && p.Axes[0].Boundary == grid.Nodes && marches(p)
}

func marches(p *pde.Problem) bool {
	name := p.Axes[0].Name
	if p.Steady || slices.ContainsFunc(p.Conditions, func(c pde.Rows) bool { return c.At[name] == "high" }) {
		return false
	}
	return marched(p)
}

// TimeOrders returns the highest order of a derivative along the first axis that residuals
// have of each unknown.
func TimeOrders(p *pde.Problem) []int {
	orders := make([]int, len(p.Unknowns))
	for _, t := range p.Terms {
		if order, _, _, ok := timeOrder(p, t); ok && p.InResidual(t.Name) {
			orders[t.Of] = max(orders[t.Of], order)
		}
	}
	return orders
}

// marched reports whether a residual of a problem has a derivative in time.
func marched(p *pde.Problem) bool { return slices.Max(TimeOrders(p)) > 0 }

// Solve implements sim.Solver; Stats counts steps in time, or of Newton's method where all is solved at once. dst has the unknowns one after
// another.
func (s *Solver) Solve(dst, initial []float64) (sim.Stats, error) { return s.solve(dst, initial, nil) }

// SolveNear is Solve that begins with a field where all is solved at once: of several solutions it finds one near that. Where there is
// none it begins as Solve does.
func (s *Solver) SolveNear(dst, initial, near []float64) error {
	_, err := s.solve(dst, initial, near)
	return err
}

func (s *Solver) solve(dst, initial, near []float64) (sim.Stats, error) {
	return s.metered(dst, initial, near, &meter{})
}

// metered is solve with a bound of its work, which is counted of what is marched.
func (s *Solver) metered(dst, initial, near []float64, work *meter) (sim.Stats, error) {
	values := 0
	for _, in := range s.inputs {
		values += in.coarse.Size
	}
	if len(dst) != s.fields*s.grid.Size() || len(initial) != values {
		return sim.Stats{}, fmt.Errorf("inputs of %d values, solution of %d on a grid of %d", len(initial), len(dst), s.grid.Size())
	}
	var sample []float64
	for _, in := range s.inputs {
		sample = append(sample, in.interpolate(in.coarse.Of(initial))...)
	}
	size := s.grid.Size()
	n := size / s.grid.Axes[0].Points
	if s.semilinear != nil {
		steps, err := s.semilinear.solveExponential(sample, s.tolerance, s.halvings, work, func(k int, u []float64) {
			own := len(u) / s.fields
			for f := range s.fields {
				grid.Thin(dst[f*size+k*n:f*size+(k+1)*n], u[f*own:(f+1)*own], s.grid.Axes[1:], s.fine.Axes[1:])
			}
		})
		return sim.Stats{Steps: steps}, err
	}
	if s.march != nil {
		write := func(k int, w *walk) {
			work.spent, w.state.most = w.state.work, work.most
			own := len(w.u) / s.fields
			for f := range s.fields {
				grid.Thin(dst[f*size+k*n:f*size+(k+1)*n], w.u[f*own:(f+1)*own], s.grid.Axes[1:], s.fine.Axes[1:])
			}
		}
		steps, err := s.march.solve(sample, nil, write)
		return sim.Stats{Steps: steps}, err
	}
	st := s.whole.newState(sample)
	u := make([]float64, s.whole.values())
	found := false
	if near == nil && s.first != nil {
		coarse := make([]float64, len(dst))
		if _, err := s.first.solve(coarse, initial, nil); err == nil {
			near = coarse
		}
	}
	if near != nil {
		copy(u, grid.Resample(near, s.grid.Axes, s.fine.Axes))
		found = st.newton(u, true)
	}
	if !found {
		clear(u)
		s.whole.sys.Problem.Persist(u, sample, s.whole.sys.Grid)
		found = st.newton(u, true)
	}
	if !found && s.whole.sys.Problem.Steady {
		st.constants(u)
		found = st.newton(u, true)
	}
	if !found && s.whole.normal {
		advice, p := "where conditions of two sides meet, `rows` leaves points out of one of them", s.whole.sys.Problem
		time := p.Axes[0].Name
		if !p.Steady && slices.ContainsFunc(p.Terms, func(t pde.Term) bool { return p.InResidual(t.Name) && alongAxis(t, time) == 3 }) {
			advice = fmt.Sprintf("an equation of third order in %s leaves three of its times to conditions: `rows: {%[1]s: [1, 2]}` in the residual", time)
		}
		return sim.Stats{}, fmt.Errorf("%w: they are %d for %d values, so that squares are minimised, with half the digits; %s", ErrNotConverged, s.whole.count, s.whole.values(), advice)
	}
	if !found {
		return sim.Stats{}, ErrNotConverged
	}
	grid.Thin(dst, u, s.grid.Axes, s.fine.Axes)
	return sim.Stats{Steps: st.steps}, nil
}

// constants sets each unknown to the number that comes nearest to the linear conditions, by least squares, where all others are zero: an equation that
// degenerates at zero, as of a pressure or a density that stands before derivatives, may be solved from there.
func (st *state) constants(u []float64) {
	n := st.slices * st.points
	rows := func() (all []float64) {
		st.evaluate(u)
		for k, set := range st.sys.Sets {
			if set.Kind != pde.ResidualRows && set.Linear {
				all = append(all, st.out[k][0]...)
			}
		}
		return all
	}
	clear(u)
	at := rows()
	values := make([]float64, st.fields)
	for f := range st.fields {
		own := u[f*n:][:n]
		for q := range own {
			own[q] = 1
		}
		change := rows()
		clear(own)
		kernel.Axpy64(change, -1, at)
		if size := kernel.SumSquares64(change); size > 0 && !math.IsInf(size, 0) {
			values[f] = -kernel.Dot(change, at) / size
		}
	}
	for f, v := range values {
		for q := range n {
			u[f*n+q] = v
		}
	}
}

// checkRings refuses interpolations along periodic axes that would take more than mostWeights.
func checkRings(what string, coarse, fine []grid.Axis) error {
	for a, axis := range coarse {
		if to := fine[a]; axis.Boundary == grid.Periodic && axis != to && axis.Points > mostWeights/to.Points {
			return fmt.Errorf("%w: %s, from %d points of the periodic axis %s to %d, takes each of the one for each of the other", ErrTooLarge, what, axis.Points, axis.Name, to.Points)
		}
	}
	return nil
}

// interpolation is that of the points of an axis to those of a finer one: of the nearest point, or by grid.Interpolation with six; nil where they are the same.
func interpolation(coarse, fine grid.Axis, nearest bool) *grid.Interpolation {
	switch {
	case coarse == fine:
		return nil
	case nearest:
		return coarse.NearestPoints(fine)
	}
	return coarse.Interpolation(fine, 6)
}

// interpolate puts an input on the finer points, axis by axis.
func (x *input) interpolate(u []float64) []float64 {
	inner := 1
	for a := len(x.weights) - 1; a >= 0; a-- {
		if w := x.weights[a]; w != nil {
			u = w.Along(u, inner)
		}
		inner *= x.fine.Space[a].Points
	}
	return u
}
