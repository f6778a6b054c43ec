package discrete

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"pihc/expr"
	"pihc/grid"
	"pihc/internal/words"
	"pihc/pde"
)

// An Examination says whether the rows of a problem determine its unknowns, from
// their linearisation on a small grid about initial conditions that vary in time, and agree
// with each other and with the ansatz.
type Examination struct {
	Grid     []int `json:"grid"`
	Rows     int   `json:"rows"`     // with what the ansatz fixes
	Unknowns int   `json:"unknowns"` // values of all unknowns
	Rank     int   `json:"rank"`
	// Faults are what no training can make up for, Notes what may be meant.
	Faults []string `json:"faults,omitempty"`
	Notes  []string `json:"notes,omitempty"`
	Open   []string `json:"-"` // what may be missing at ends of axes with cells, IllPosed where it is no fault, and Torn
	// IllPosed says that disturbances grow without bound as they get finer; "": they do not, or it cannot be told. It is a note, or a fault where they do so everywhere.
	IllPosed string `json:"-"`
	// Torn says that initial conditions of waves miss what a wall prescribes; "": they do not. It is a note.
	Torn string `json:"-"`
}

// mostValues bounds systems that are solved a second time, on a finer grid.
const mostValues = 2500

// Examine examines a problem with initial conditions that draw returns for a grid. Rows have to be finite on own, too,
// nil the grid that the problem states.
func Examine(p *pde.Problem, own *grid.Grid, draw func(g *grid.Grid) ([][]float64, error)) (*Examination, error) {
	x := &Examination{}
	s, err := smallSystem(p, 0)
	if err != nil {
		return nil, err
	}
	sys, g := s.sys, s.sys.Grid
	initial, err := draw(g)
	if err != nil {
		return nil, err
	}
	x.Grid, x.Unknowns = g.Shape(), sys.FieldSize()
	for i, in := range p.Inputs {
		switch used := usesInput(p, sys, i); {
		case used:
		case i < p.Initials():
			x.Faults = append(x.Faults, fmt.Sprintf("no row contains %s: all initial conditions have the same solution%s", in.Name, timeless(p)))
		default:
			x.Faults = append(x.Faults, fmt.Sprintf("no row contains %s: the solution does not depend on that input", in.Name))
		}
	}
	if alike(initial) {
		x.Notes = append(x.Notes, "all samples that are drawn are alike: there is one solution to learn")
	}
	x.domain(s, initial, true)
	if len(x.Faults) == 0 {
		if err := x.domainOn(p, own, draw); err != nil {
			return nil, err
		}
	}
	if len(x.Faults) == 0 {
		x.domain(s, initial, false)
		st, u := s.about(initial[0])
		if x.rank(st, u); !x.free() {
			x.contradictions(st, u, initial[0])
			if len(x.Faults) > 0 && agrees(p, g.Axes[0].Points, draw) {
				x.Faults = nil
			}
			x.openWalls(s, initial)
			x.wrongWaves(s, initial)
			text, everywhere := illPosed(s, initial)
			switch x.IllPosed = text; {
			case everywhere:
				x.Faults = append(x.Faults, text)
			case text != "":
				x.Open = append(x.Open, text)
			}
			if x.Torn = torn(s, initial); x.Torn != "" {
				x.Open = append(x.Open, x.Torn)
			}
			if len(x.Faults) == 0 {
				x.tooManyWalls(st)
				if err := x.otherSolutions(p, draw); err != nil {
					return nil, err
				}
			}
		}
	}
	var unused []string
	for i, t := range p.Terms {
		if !slices.ContainsFunc(sys.Sets, func(r *pde.RowSet) bool { return slices.Contains(r.Terms, len(p.Unknowns)+i) }) {
			unused = append(unused, t.Name)
		}
	}
	switch {
	case len(unused) == 1:
		x.Notes = append(x.Notes, "no row uses the term "+unused[0])
	case len(unused) > 1:
		x.Notes = append(x.Notes, "no row uses the terms "+words.List(unused))
	}
	if len(p.Unused) > 0 {
		x.Notes = append(x.Notes, "nothing in the file uses "+words.List(p.Unused))
	}
	if needs := lacksRate(p); needs != "" {
		switch {
		case x.free():
			x.Faults[0] += "; " + needs
		case len(p.Unknowns) == 1 && p.Unknowns[0].Ansatz.Trivial(): // another unknown may be the rate
			x.Faults = append(x.Faults, needs)
		}
	}
	said := strings.Join(x.Open, "\n")
	ends := slices.DeleteFunc(openEnds(p, sys, x.free()), func(end string) bool {
		axis, _, _ := strings.Cut(end, " ")
		return strings.Contains(said, "holds at "+end+",") || strings.Contains(said, "holds at either end of "+axis+",")
	})
	if len(ends) > 0 {
		note := "no condition holds at " + words.List(ends)
		switch {
		case x.free():
			x.Faults[0] += "; " + note // that of the rank
		case len(x.Faults) == 0:
			x.Notes = append(x.Notes, note+": right where the equation needs none, as where it carries values out or another unknown has two")
		}
	}
	return x, nil
}

// timeless is what is added where a problem may have no time.
func timeless(p *pde.Problem) string {
	if !SeemsSteady(p) {
		return ""
	}
	return fmt.Sprintf("; if %s is not time the file wants `time: none`", p.Axes[0].Name)
}

// SeemsSteady reports whether a problem that does not say so may have no time: its rows and its ansatz
// contain no initial condition, and its first axis cannot be marched along.
func SeemsSteady(p *pde.Problem) bool {
	return !p.Steady && !Marches(p) && !slices.ContainsFunc(p.Unknowns, func(u pde.Unknown) bool {
		name := u.InitialName()
		return slices.ContainsFunc(p.AllRows(), func(r pde.Rows) bool { return r.Expr.DependsOn(name) }) ||
			slices.ContainsFunc(p.Unknowns, func(v pde.Unknown) bool { return v.Ansatz.Offset.DependsOn(name) })
	})
}

// free reports whether the first fault is that values stay free.
func (x *Examination) free() bool { return x.Rank > 0 && x.Rank < x.Unknowns }

// alike reports whether several samples are all the same.
func alike(samples [][]float64) bool {
	return len(samples) > 1 && !slices.ContainsFunc(samples[1:], func(x []float64) bool { return !slices.Equal(x, samples[0]) })
}

// about is a state evaluated at a field near the initial condition of a sample, and that field.
func (s *system) about(sample []float64) (*state, []float64) {
	st, add := s.newState(sample), 0.0
	if s.sys.Problem.Steady {
		add = 1 // zero is all that is known of it
	}
	u := varied(s.sys, sample, 0.2, add, 0)
	st.evaluate(u)
	return st, u
}

// otherSolutions looks for several solutions of a problem that is solved all at once: Newton's method
// from where Solve starts, and from bumps of several heights. Another counts if it is one, and nearly
// the same, on finer grids too: some that coarse differences have are none of the equation.
func (x *Examination) otherSolutions(p *pde.Problem, draw func(g *grid.Grid) ([][]float64, error)) error {
	const different, alike = 0.01, 0.1
	if Marches(p) {
		return nil
	}
	var other []float64
	var on *grid.Grid
	distance := 0.0
	for _, points := range []int{10, 16, 20} {
		s, err := smallSystem(p, points)
		if err != nil || s.values() > mostValues {
			break
		}
		sys := s.sys
		samples, err := draw(sys.Grid)
		if err != nil {
			return err
		}
		if s.count < s.values() || !slices.ContainsFunc(sys.Sets, func(set *pde.RowSet) bool { return !set.Linear }) {
			return nil
		}
		st, first := s.newState(samples[0]), make([]float64, s.values())
		p.Persist(first, samples[0], sys.Grid)
		if !st.newton(first, true) {
			return nil
		}
		from := func(u []float64) bool {
			if !st.newton(u, true) {
				return false
			}
			distance = grid.Distance(u, first) / max(grid.Norm(u), grid.Norm(first))
			return distance > different
		}
		if other == nil {
			other = s.fromBumps(first, from)
		} else {
			start := grid.Resample(other, on.Axes, sys.Grid.Axes)
			other = slices.Clone(start)
			if !from(other) || grid.Distance(other, start) > alike*grid.Norm(other) {
				return nil
			}
		}
		if on = sys.Grid; other == nil {
			return nil
		}
	}
	if other != nil {
		x.Notes = append(x.Notes, fmt.Sprintf("the equation has several solutions: another is %s of the larger of both away from the one that Newton's method finds from zero, with which predictions are compared; training may find any", words.Percent(distance)))
	}
	return nil
}

// fromBumps returns the first field that found accepts and leads to another solution, of bumps as
// high as the first solution and up to 2000 times as high, of both signs; nil: none.
func (s *system) fromBumps(first []float64, found func(u []float64) bool) []float64 {
	size := grid.Norm(first) / math.Sqrt(float64(len(first)))
	if size == 0 {
		size = 1
	}
	bump := bumpOf(s.sys.Grid)
	u := make([]float64, len(first))
	for height := size; height < 2000*size; height *= 2 {
		for _, sign := range []float64{1, -1} {
			for i := range u {
				u[i] = sign * height * bump[i%len(bump)]
			}
			if found(u) {
				return u
			}
		}
	}
	return nil
}

// bumpOf is a field (P) that falls from 1 to zero at the ends of axes that are not periodic.
func bumpOf(g *grid.Grid) []float64 {
	bump := make([]float64, g.Size())
	for p := range bump {
		bump[p] = 1
		for a, axis := range g.Axes {
			if axis.Boundary != grid.Periodic {
				i := p / g.Strides()[a] % axis.Points
				bump[p] *= math.Sin(math.Pi * (axis.Coordinate(i) - axis.Lo) / (axis.Hi - axis.Lo))
			}
		}
	}
	return bump
}

// agrees reports whether the conditions of a problem agree on a grid with half as many points again
// along each axis: what they disagreed by with so many was the error of coarse differences.
func agrees(p *pde.Problem, points int, draw func(g *grid.Grid) ([][]float64, error)) bool {
	s, err := smallSystem(p, points+points/2)
	if err != nil || s.values() > mostValues {
		return false
	}
	initial, err := draw(s.sys.Grid)
	if err != nil {
		return false
	}
	st, u := s.about(initial[0])
	again := &Examination{}
	again.contradictions(st, u, initial[0])
	return len(again.Faults) == 0
}

// smallSystem is the problem on the smallest grid of at least so many points, odd along periodic
// axes, that its terms have room on, to be solved by a factored matrix.
func smallSystem(p *pde.Problem, least int) (*system, error) {
	err := fmt.Errorf("no small grid of %d points", least)
	for _, n := range []int{6, 8, 10, 12, 16, 20} {
		if n < least {
			continue
		}
		points := map[string]int{}
		for _, a := range p.Axes {
			points[a.Name] = n
			if a.Boundary == grid.Periodic {
				points[a.Name] = n + 1
			}
		}
		var g *grid.Grid
		if g, err = p.Grid(points); err != nil {
			return nil, err
		}
		var sys *pde.System
		if sys, err = p.Discretize(g); err != nil {
			continue
		}
		s, err := newSystem(sys, nil, thorough)
		if err == nil && !s.direct {
			err = fmt.Errorf("rows on %v points are %w", g.Shape(), ErrTooLarge)
		}
		return s, err
	}
	return nil, err
}

// usesInput reports whether the ansatz or a row, at its point or a neighbour, reads an input.
func usesInput(p *pde.Problem, sys *pde.System, input int) bool {
	name := p.Inputs[input].Name
	return slices.ContainsFunc(p.Unknowns, func(u pde.Unknown) bool { return u.Ansatz.Offset.DependsOn(name) }) || slices.ContainsFunc(sys.Sets, func(set *pde.RowSet) bool {
		return slices.ContainsFunc(set.Extras, func(x pde.Extra) bool { return x.Axis < 0 && x.Input == input })
	})
}

// varied holds the initial condition of a sample in time, or zero, times a factor from 1-by
// to 1+by, plus a number from -add to add, drawn for every point.
func varied(sys *pde.System, sample []float64, by, add float64, seed int) []float64 {
	rng := rand.New(rand.NewPCG(3, uint64(seed)))
	u := make([]float64, sys.FieldSize())
	sys.Problem.Persist(u, sample, sys.Grid)
	for i := range u {
		u[i] = u[i]*(1+by*(2*rng.Float64()-1)) + add*(2*rng.Float64()-1)
	}
	return u
}

// mostDomain bounds the values of a grid of any size on which rows are evaluated once.
const mostDomain = 1 << 21

// domainOn finds rows that are not finite at a first initial condition on a grid, which has points that a small one has not.
func (x *Examination) domainOn(p *pde.Problem, g *grid.Grid, draw func(g *grid.Grid) ([][]float64, error)) (err error) {
	if g == nil {
		if g, err = p.Grid(nil); err != nil {
			return err
		}
	}
	if g.Size()*len(p.Unknowns) > mostDomain {
		return nil
	}
	sys, err := p.Discretize(g)
	if err != nil {
		return err
	}
	initial, err := draw(g)
	if err != nil {
		return err
	}
	s := &system{sys: sys, rates: make([]int, len(sys.Terms)), fields: len(p.Unknowns), slices: 1, points: g.Size(), whole: true}
	for _, set := range sys.Sets {
		s.count += len(set.Points)
	}
	x.domain(s, initial[:1], true)
	return nil
}

// domain finds rows that are not finite: near initial conditions, at these themselves, which is a fault, or else
// at fields as far from them as they are from zero.
func (x *Examination) domain(s *system, initial [][]float64, near bool) {
	var states []*state
	for draw, u0 := range initial {
		u := varied(s.sys, u0, 0, 0, draw)
		if !near {
			most := 0.0
			for _, v := range u {
				most = max(most, math.Abs(v))
			}
			if s.sys.Problem.Steady {
				most = 1
			}
			u = varied(s.sys, u0, 0, most, draw)
		}
		st := s.newState(u0)
		st.evaluate(u)
		states = append(states, st)
	}
	for k, set := range s.sys.Sets {
		bad, example := 0, ""
		for _, st := range states {
			for i := range set.Points {
				if slices.ContainsFunc(st.out[k], func(out []float64) bool { return math.IsNaN(out[i]) || math.IsInf(out[i], 0) }) {
					if bad++; example == "" {
						example = st.undefined(k, i)
					}
				}
			}
		}
		if bad == 0 {
			continue
		}
		text := fmt.Sprintf("%s: %.3g %% of the rows are not finite", set.Name, 100*float64(bad)/float64(len(states)*len(set.Points)))
		if near {
			where := " where the field keeps its initial values: "
			if s.sys.Problem.Steady {
				where = " where unknowns are zero, which solutions begin with (write an unknown as a typical value plus another, T = 1 + theta say): "
			}
			x.Faults = append(x.Faults, text+where+example+s.zeroAtFirst(k))
		} else {
			x.Notes = append(x.Notes, text+" for fields about as far from the initial condition as that is from zero, which a network may propose: "+example)
		}
	}
}

// zeroAtFirst names the unknowns in a set's rows that begin with zero since nothing says what they begin with, and what helps where that is no value they have.
func (s *system) zeroAtFirst(set int) string {
	p := s.sys.Problem
	var names []string
	for f, u := range p.Unknowns {
		begun := p.Steady || slices.ContainsFunc(p.Conditions, func(c pde.Rows) bool { return c.At[p.Axes[0].Name] == "low" && p.Concerns(c, f) })
		read := slices.ContainsFunc(s.sys.Sets[set].Terms, func(t int) bool { return s.sys.Terms[t].Of == f })
		if zero, ok := u.Start.Constant(); ok && zero == 0 && read && !begun {
			names = append(names, u.Name)
		}
	}
	if names == nil {
		return ""
	}
	return fmt.Sprintf("; no condition says what %s begins with, and zero stands for that: multiply the expression by what is zero there, or write %s = 1 + another unknown", words.List(names), names[0])
}

// undefined says what of a row is not finite.
func (st *state) undefined(set, i int) string {
	p, rows := st.sys.Problem, st.rows[set]
	var statement pde.Rows
	for _, r := range p.AllRows() {
		if r.Name == rows.Set.Name {
			statement = r
		}
	}
	at := map[string]float64{}
	for j, t := range rows.Set.Terms {
		at[st.sys.Terms[t].Name] = rows.Terms.Values[j][i]
	}
	for e, extra := range rows.Set.Extras {
		at[extra.Name] = rows.Extras[e][i]
	}
	values := func(e *expr.Expr) string {
		var parts []string
		for _, name := range e.Variables() {
			parts = append(parts, fmt.Sprintf("%s = %.3g", name, at[name]))
		}
		if len(parts) == 0 {
			return ""
		}
		return " at " + words.List(parts)
	}
	for _, e := range []*expr.Expr{statement.Expr, statement.Weight} {
		if bad := e.Undefined(at); bad != nil {
			return words.Clip(bad.String(), 120) + values(bad)
		}
	}
	for _, t := range rows.Set.Terms {
		name := st.sys.Terms[t].Name
		if bad := statement.Expr.Diff(name).Undefined(at); bad != nil {
			return fmt.Sprintf("the derivative by %s, of which %s%s", name, words.Clip(bad.String(), 120), values(bad))
		}
	}
	return "the product of weight and expression"
}
