package discrete

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"pihc/expr"
	"pihc/grid"
	"pihc/internal/kernel"
	"pihc/pde"
)

// stages is the number of stages of a step.
const stages = 3

var nodes = grid.RadauNodes()

// march steps through time.
type march struct {
	problem *pde.Problem
	start   *system // rows at the first time: unknown are u and, for second order, u_t
	step    *system // rows of the stages of a step
	orders  []int   // of derivatives in time, of each unknown (TimeOrders)
	second  bool    // one is 2
	space   []grid.Axis
	times   []float64 // of the output
	parts   int       // steps from one output to the next
	source  *source   // added to the rows, or nil
	effort  effort
}

// timeOrder returns the order of a term's derivative along the first axis, the term
// without it, the end it belongs to ("" for none), and whether it can be marched.
func timeOrder(p *pde.Problem, t pde.Term) (order int, space pde.Term, edge string, ok bool) {
	space, ok = t, true
	space.Factors = nil
	for _, f := range t.Factors {
		if f.Axis != p.Axes[0].Name {
			space.Factors = append(space.Factors, f)
			continue
		}
		order = f.Scheme.Derivative
		if f.Edge != nil {
			order, edge = f.Edge.Derivative, "low"
			if f.Edge.High {
				edge = "high"
			}
			ok = f.Edge.At != grid.GhostPoint
		}
		ok = ok && f.Scheme.Closure != grid.Ghost
	}
	return order, space, edge, ok && order <= 2
}

// newMarch returns nil, and why, where the first axis is not time. A step has so many instants whose rows are solved together.
func newMarch(p *pde.Problem, axes []grid.Axis, times []float64, parts, instants int, e effort) (m *march, why string, err error) {
	m = &march{problem: p, space: axes[1:], times: times, parts: parts, effort: e}
	if p.Steady || axes[0].Boundary != grid.Nodes {
		return nil, "", nil
	}
	own := len(p.Unknowns) // of the problem's terms, among those of a System
	rates := make([]int, own+len(p.Terms))
	inner := *p
	inner.Terms = make([]pde.Term, len(p.Terms))
	for i, t := range p.Terms {
		order, space, edge, ok := timeOrder(p, t)
		rates[own+i], inner.Terms[i] = order, space
		if p.InResidual(t.Name) && (!ok || edge != "") {
			return nil, fmt.Sprintf("term %s of the residual is not one of an instant", t.Name), nil
		}
	}
	m.orders = TimeOrders(p)
	if !marched(p) {
		return nil, fmt.Sprintf("no residual has a derivative along %s", p.Axes[0].Name), nil
	}
	m.second = slices.Contains(m.orders, 2)
	first, walls, why, err := m.ofInstants()
	if why != "" || err != nil {
		return nil, why, err
	}
	inner.Residuals, inner.Conditions = m.instant(p.Residuals), m.instant(walls)
	if m.step, err = newSlices(&inner, axes, instants, rates, e); err != nil {
		return nil, "", err
	}
	if s := m.step; s.count < s.values() {
		return nil, "", fmt.Errorf("%d rows for the %d values of an instant", s.count/instants, s.values()/instants)
	}
	if len(first) > 0 {
		err = m.begin(inner, axes, first, walls, rates)
	}
	return m, "", err
}

// ofInstants divides the conditions into those of the first time and those of all others; why says what
// is not one of an instant.
func (m *march) ofInstants() (first, walls []pde.Rows, why string, err error) {
	p, name := m.problem, m.problem.Axes[0].Name
	for _, c := range p.Conditions {
		low := c.At[name] == "low"
		for _, t := range p.Terms {
			if !c.Expr.DependsOn(t.Name) {
				continue
			}
			order, _, edge, ok := timeOrder(p, t)
			highest := max(1, m.orders[t.Of])
			if !ok || edge == "high" || edge == "low" && !low || order > highest || low && order >= highest {
				why := fmt.Sprintf("condition %s has term %s, which is not one of the first instant", c.Name, t.Name)
				if edge == "low" && low && !ok {
					why += " (at: wall or at: inner in the place of ghost)"
				}
				return nil, nil, why, nil
			}
		}
		switch {
		case c.At[name] == "high":
			return nil, nil, fmt.Sprintf("condition %s holds at %s high", c.Name, name), nil
		case low:
			first = append(first, c)
		case c.Skip[name][0] > 2 || c.Skip[name][1] > 0: // counts of points, which other steps have not
			return nil, nil, "", fmt.Errorf("condition %s leaves out times (rows: {%s: [%d, %d]}), and solutions of the problem's own rows have all conditions at all times", c.Name, name, c.Skip[name][0], c.Skip[name][1])
		default:
			walls = append(walls, c)
		}
	}
	return first, walls, "", nil
}

// instant returns rows as those of one instant, which have no place along time.
func (m *march) instant(rows []pde.Rows) []pde.Rows {
	name, out := m.problem.Axes[0].Name, slices.Clone(rows)
	for i := range out {
		out[i].At, out[i].Skip = maps.Clone(out[i].At), maps.Clone(out[i].Skip)
		delete(out[i].At, name)
		delete(out[i].Skip, name)
	}
	return out
}

// begin prepares the rows of the first time: they hold on the first of two slices, u being the first
// and, of second order, u_t the second, which is zero of unknowns of lower order: nothing reads it.
func (m *march) begin(inner pde.Problem, axes []grid.Axis, first, walls []pde.Rows, rates []int) (err error) {
	p, unknown := m.problem, 1
	var unread []pde.Rows
	if m.second {
		unknown = 2
		for f, u := range p.Unknowns {
			if m.orders[f] < 2 {
				unread = append(unread, pde.Rows{Name: "rate of " + u.Name, At: map[string]string{p.Axes[0].Name: "high"}, Skip: map[string][2]int{}, Weight: expr.Const(1), Expr: expr.Variable(u.Name)})
			}
		}
	}
	rated := func(r pde.Rows) bool {
		return slices.ContainsFunc(p.Terms, func(t pde.Term) bool {
			o, _, _, _ := timeOrder(p, t)
			return o >= max(1, m.orders[t.Of]) && r.Expr.DependsOn(t.Name)
		})
	}
	// Values that initial conditions leave out are those of walls and residuals: of those unknowns, and only then of all.
	begun := func(f int) bool {
		return slices.ContainsFunc(first, func(c pde.Rows) bool { return p.Concerns(c, f) })
	}
	given := func(r pde.Rows) bool {
		for f := range p.Unknowns {
			if p.Concerns(r, f) && !begun(f) {
				return false
			}
		}
		return true
	}
	holds := func(r pde.Rows) bool {
		of := p.Holds(r)
		return given(r) || of >= 0 && begun(of)
	}
	left := slices.DeleteFunc(m.instant(slices.Concat(walls, p.Residuals)), rated)
	for _, more := range [][]pde.Rows{nil, slices.DeleteFunc(slices.Clone(left), holds), slices.DeleteFunc(slices.Clone(left), given), left} {
		at := m.instant(slices.Concat(first, more))
		for i := range at {
			if m.second {
				at[i].At[p.Axes[0].Name] = "low"
			}
		}
		inner.Residuals, inner.Conditions = at[:1], slices.Concat(at[1:], unread)
		if m.start, err = newSlices(&inner, axes, unknown, rates, thorough); err != nil || m.start.count >= m.start.values() {
			return err
		}
	}
	return fmt.Errorf("the initial conditions give %d of %d values", m.start.count, m.start.values())
}

// newSlices puts a problem whose rows are those of an instant on count slices.
func newSlices(p *pde.Problem, axes []grid.Axis, count int, rates []int, e effort) (*system, error) {
	g := &grid.Grid{Axes: slices.Clone(axes)}
	g.Axes[0].Points, g.Axes[0].Boundary = count, grid.Cells
	sys, err := p.Discretize(g)
	if err != nil {
		return nil, err
	}
	return newSystem(sys, rates, e)
}

// initial returns the walk at the first time for the inputs of a sample.
func (m *march) initial(sample []float64, along [][]float64) (*walk, error) {
	w := m.newWalk(sample, along)
	if m.start == nil {
		return w, m.fromAnsatz(w, sample, along)
	}
	u, n := w.u, m.step.points
	st := m.start.newState(sample)
	st.source = m.source
	both := make([]float64, m.start.values())
	m.problem.Persist(u, sample, m.step.sys.Grid)
	for f := range m.step.fields {
		copy(m.start.slice(both, f, 0), u[f*n:])
	}
	if m.second {
		st.rate[1] = []float64{0, 1, 0, 0}
	}
	st.setTimes(slices.Repeat([]float64{m.times[0]}, m.start.slices))
	if !st.newton(both, true) {
		return nil, fmt.Errorf("%w at the initial conditions", ErrNotConverged)
	}
	m.begins(&w.fields, both)
	return w, w.tangentsAtStart(st, along)
}

// begins sets fields from the solution of the rows of the first time.
func (m *march) begins(x *fields, both []float64) {
	n := m.step.points
	for f := range m.step.fields {
		copy(x.u[f*n:], m.start.slice(both, f, 0))
		if m.second {
			copy(x.rate[f*n:], m.start.slice(both, f, 1))
		}
	}
}

// fromAnsatz begins with the ansatz's offsets where all of its multipliers vanish.
func (m *march) fromAnsatz(w *walk, sample []float64, along [][]float64) error {
	p, n := m.problem, m.step.points
	names := append(p.AxisNames(), p.InputNames()...)
	in := [][]float64{slices.Repeat(m.times[:1], n)}
	stride := n
	for _, a := range m.space {
		stride /= a.Points
		field := make([]float64, n)
		for i := range field {
			field[i] = a.Coordinate(i / stride % a.Points)
		}
		in = append(in, field)
	}
	inputs := m.step.sys.Inputs
	for k := range inputs {
		in = append(in, onSlice(&inputs[k], sample, n))
	}
	out := [][]float64{nil, make([]float64, n)}
	for f, x := range p.Unknowns {
		list := []*expr.Expr{x.Ansatz.Offset, x.Ansatz.Multiplier}
		out = out[:2]
		out[0] = w.u[f*n : (f+1)*n]
		for k := range inputs {
			if len(along) > 0 {
				list, out = append(list, x.Ansatz.Offset.Diff(inputs[k].Name)), append(out, make([]float64, n))
			}
		}
		program, err := expr.Compile(list, names)
		if err != nil {
			return err
		}
		program.Evaluator()(n, out, in)
		if m.second || kernel.SumSquares64(out[1]) > 0 || TimeOrders(p)[f] == 0 {
			return fmt.Errorf("no initial condition of %s", x.Name)
		}
		for j, direction := range along {
			for k := range inputs {
				for i, v := range onSlice(&inputs[k], direction, n) {
					w.tangents[j].u[f*n+i] += out[2+k][i] * v
				}
			}
		}
	}
	return nil
}

// onSlice returns an input at the n points of a slice.
func onSlice(in *pde.PlacedInput, sample []float64, n int) []float64 {
	field := make([]float64, n)
	for i := range field {
		field[i] = sample[in.At(int32(i), 0, 0)]
	}
	return field
}

// solve marches and calls out at every time of the output, in order; along are directions of the inputs, by which the walk has tangents.
func (m *march) solve(sample []float64, along [][]float64, out func(k int, w *walk)) (steps int, err error) {
	w, err := m.initial(sample, along)
	if err != nil {
		return 0, err
	}
	if len(along) > 0 {
		if w.slopes, err = newSlopes(w.state, along); err != nil {
			return 0, err
		}
	}
	out(0, w)
	for k := 1; k < len(m.times); k++ {
		t, interval := m.times[k-1], m.times[k]-m.times[k-1]
		h := interval / float64(m.parts)
		for i := range m.parts {
			lo := 0.0
			if k == 1 && i == 0 {
				// Steps that grow from a small one: initial and boundary values may disagree.
				for part := range m.effort.grading {
					hi := math.Pow(0.5, float64(m.effort.grading-1-part)) * h
					w.h = 0 // where they do, no polynomial of a step leads on to the next
					if err := w.advance(t+lo, hi-lo, 0); err != nil {
						return w.steps, err
					}
					lo = hi
				}
				continue
			}
			if err := w.advance(t+float64(i)*h, h, 0); err != nil {
				return w.steps, err
			}
		}
		out(k, w)
	}
	return w.steps, nil
}

// fields are all fields and their derivatives in time at one time, (fields, points).
type fields struct{ u, rate []float64 }

// walk is the state of a march.
type walk struct {
	*march
	fields
	state    *state
	h        float64   // of the factored matrix
	last     []float64 // start (fields, points) and stages (fields, stages, points) of the last step
	steps    int
	tangents []fields // the derivatives by each direction of the inputs
	slopes   *slopes  // nil without directions
}

func (m *march) newWalk(sample []float64, along [][]float64) *walk {
	size := m.step.fields * m.step.points
	zeros := func() fields { return fields{make([]float64, size), make([]float64, size)} }
	w := &walk{march: m, fields: zeros(), state: m.step.newState(sample)}
	w.state.source = m.source
	for range along {
		w.tangents = append(w.tangents, zeros())
	}
	return w
}

// known sets what the stages' derivatives in time have of the fields at the start of a step, by weights d of each stage.
func (w *walk) known(known *[orders][]float64, x *fields, d [][]float64) {
	st := w.state
	n := st.points
	known[1] = make([]float64, st.values())
	for i := range stages {
		for f := range st.fields {
			kernel.Axpy64(st.slice(known[1], f, i), d[i][0], x.u[f*n:(f+1)*n])
		}
	}
	if !w.second {
		return
	}
	known[2] = make([]float64, st.values()) // u_t is a polynomial of its own, with its own start
	for i := range stages {
		for f := range st.fields {
			to := st.slice(known[2], f, i)
			kernel.Axpy64(to, d[i][0], x.rate[f*n:(f+1)*n])
			for k := range stages {
				kernel.Axpy64(to, d[i][1+k], st.slice(known[1], f, k))
			}
		}
	}
}

// arrive sets fields from the stages u of a step to its end; the state has what is known of them.
func (w *walk) arrive(x *fields, u []float64) {
	st := w.state
	n := st.points
	if w.second {
		st.differentiate(u, false)
	}
	for f := range st.fields {
		if w.second {
			copy(x.rate[f*n:], st.slice(st.w[1], f, stages-1))
		}
		copy(x.u[f*n:], st.slice(u, f, stages-1))
	}
}

// lastAt returns a field at the start of the last step or, from 1 on, at one of its stages.
func (w *walk) lastAt(f, k int) []float64 {
	n := w.state.points
	if k == 0 {
		return w.last[f*n : (f+1)*n]
	}
	return w.state.slice(w.last[len(w.u):], f, k-1)
}

// goesOn reports whether a step is as long as the last, but for rounding of the times.
func (w *walk) goesOn(h float64) bool { return math.Abs(h-w.h) <= 1e-9*h }

// advance takes u and rate from t to t+h, in halves where that fails.
func (w *walk) advance(t, h float64, depth int) error {
	st := w.state
	n := st.points
	d := make([][]float64, stages) // derivative at each stage by the values at the start and the stages
	points := append([]float64{0}, nodes[:]...)
	for i, c := range nodes {
		d[i] = grid.Fornberg(1, c, points)
		for k := range d[i] {
			d[i][k] /= h
		}
	}
	st.rate[1] = make([]float64, stages*stages)
	w.known(&st.known, &w.fields, d)
	times := make([]float64, stages)
	u := make([]float64, st.values())
	for i := range stages {
		copy(st.rate[1][i*stages:], d[i][1:])
		times[i] = t + nodes[i]*h
		for f := range st.fields {
			now, rate := w.u[f*n:(f+1)*n], w.rate[f*n:(f+1)*n]
			guess := st.slice(u, f, i)
			if w.goesOn(h) { // where the polynomial of the last step leads
				for k, c := range grid.Fornberg(0, 1+nodes[i], points) {
					kernel.Axpy64(guess, c, w.lastAt(f, k))
				}
				continue
			}
			copy(guess, now)
			kernel.Axpy64(guess, nodes[i]*h, rate)
		}
	}
	if w.second {
		st.rate[2] = make([]float64, stages*stages)
		for i := range stages {
			for k := range stages {
				for l := range stages {
					st.rate[2][i*stages+l] += d[i][1+k] * d[k][1+l]
				}
			}
		}
	}
	st.setTimes(times)
	if !st.newton(u, !w.goesOn(h)) {
		if depth == w.effort.halvings {
			return fmt.Errorf("%w at %s = %g", ErrNotConverged, w.problem.Axes[0].Name, t)
		}
		w.h = 0
		if err := w.advance(t, h/2, depth+1); err != nil {
			return err
		}
		return w.advance(t+h/2, h/2, depth+1)
	}
	w.h, w.last = h, append(append(w.last[:0], w.u...), u...)
	w.steps++
	if err := w.advanceTangents(d); err != nil {
		return err
	}
	w.arrive(&w.fields, u)
	return nil
}
