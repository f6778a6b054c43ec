package pde

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"pihc/compute"
	"pihc/expr"
	"pihc/grid"
	"pihc/internal/slab"
	"pihc/internal/words"
)

// A System is a Problem on a grid: its terms as operators and its rows as
// compiled programs over points.
//
// A field of C unknowns has FieldSize values, (C, P): those of unknown c are at c·P. Terms[c]
// is that unknown itself; the problem's terms follow. Every operator maps one unknown (P) to
// one number a point. The inputs of a sample have InputSize values.
type System struct {
	Problem *Problem
	Grid    *grid.Grid
	Terms   []Operator
	Sets    []*RowSet // the residuals, then the conditions, both in file order

	Inputs []PlacedInput

	// Of the part that Divide gives of a System: that System, and the slab of its grid. Grid and
	// fields of the part have the stored slices, Points are rows of the own ones.
	Whole *System
	Slab  *compute.Slab

	offsets, multipliers []*expr.Program // of the ansatz, per unknown
	meanWeights          [][]float64     // likewise, on a slice, of sum 1; nil where all points weigh alike
	begins               []*expr.Program // of a Propagator's values at the first time
	propagating          func() (*grid.Propagator, error)
	coordinates          [][]float64 // on a slice along the first axis, of all other axes
}

// Operator is a term on the grid.
type Operator struct {
	Name string
	Of   int // the unknown that it acts on
	grid.Operator
}

// Spectral reports whether the term has no stencil.
func (o Operator) Spectral() bool {
	_, sparse := o.Operator.(grid.Sparse)
	return !sparse
}

// A RowSet is one set of rows on the grid. With J terms and E extras, a row's
// value is r = weight F(z_1..z_J; extras), and its programs also give the
// partial derivatives of r, all sharing sub-expressions.
type RowSet struct {
	Name   string
	Kind   Kind
	Terms  []int   // positions in System.Terms of z_1..z_J
	Extras []Extra // further inputs, constant during a solve
	Points []int32 // grid points with a row, ascending
	// Solved are those with a row in least-squares solves: Points but where the problem
	// says otherwise.
	Solved []int32
	Count  int // of Points on the whole grid
	// Linear says that r is affine in the terms: its first derivatives do not
	// depend on them, and it has no jumps in them.
	Linear bool

	index    int // among the System's sets
	weighted *expr.Expr
	programs [3]*expr.Program
	// pairs[j*J+k] is the position of ∂²r/∂z_j∂z_k among the outputs of the last
	// program, or -1 where it is identically zero.
	pairs []int
}

// Extra is an input of a row program that is not a term: a coordinate of the
// axis Axis, or (Axis < 0) one of the System's Inputs, at the row's position or so many
// steps from it.
type Extra struct {
	Name  string
	Axis  int
	Input int
	Along int // the axis of the steps
	Shift int
}

// Coordinate is what a point of a grid reads of an axis: its own coordinate, or that of a neighbour, at the other end of a periodic axis.
func (x *Extra) Coordinate(g *grid.Grid, p int) float64 {
	axis := g.Axes[x.Axis]
	i := p / g.Strides()[x.Axis] % axis.Points
	if i += x.Shift; axis.Boundary == grid.Periodic {
		i = (i + axis.Points) % axis.Points
	}
	return axis.Coordinate(i)
}

// Program returns the set's program up to an order of derivatives: 0 gives r alone, 1 also
// r_1..r_J, and 2 also the second derivatives that Pair names. Its inputs are z_1..z_J, then
// the extras.
func (s *RowSet) Program(order int) *expr.Program { return s.programs[order] }

// Pair returns the output of second order that holds ∂²r/∂z_j∂z_k, or -1 for zero.
func (s *RowSet) Pair(j, k int) int { return s.pairs[j*len(s.Terms)+k] }

// InputSlopes returns the program of the derivatives of r by those Extras that are inputs, in their order; its inputs are those of
// Program. It is nil where the rows read no input.
func (s *System) InputSlopes(set *RowSet) (*expr.Program, error) {
	var names []string
	for _, t := range set.Terms {
		names = append(names, s.Terms[t].Name)
	}
	var slopes []*expr.Expr
	for _, x := range set.Extras {
		if names = append(names, x.Name); x.Axis < 0 {
			slopes = append(slopes, set.weighted.Diff(x.Name))
		}
	}
	if slopes == nil {
		return nil, nil
	}
	return expr.Compile(slopes, names)
}

// Residuals returns the rows of the residuals, the first of Sets.
func (s *System) Residuals() []*RowSet { return s.Sets[:len(s.Problem.Residuals)] }

// Term returns the term of the problem that Terms[t] is; ok is false for an unknown itself.
func (s *System) Term(t int) (term Term, ok bool) {
	if t -= len(s.Problem.Unknowns); t < 0 {
		return Term{}, false
	}
	return s.Problem.Terms[t], true
}

// NewGatherer returns a Gatherer of all terms, in their order, for fields (C, P).
func (s *System) NewGatherer(pool *compute.Pool) *grid.Gatherer {
	var of []int
	for _, t := range s.Terms {
		of = append(of, t.Of)
	}
	g := s.Grid.NewGatherer(s.operators(), pool)
	g.Fields(of)
	begin, _ := s.Slab.Own(s.Grid.Axes[0].Points)
	g.Begin(begin)
	return g
}

func (s *System) operators() (ops []grid.Operator) {
	for _, t := range s.Terms {
		ops = append(ops, t.Operator)
	}
	return ops
}

// Discretize puts the problem on g, whose axes must be the problem's.
func (p *Problem) Discretize(g *grid.Grid) (*System, error) {
	s := &System{Problem: p, Grid: g, Inputs: p.PlaceInputs(g)}
	if err := p.gridTerms(s); err != nil {
		return nil, err
	}
	for _, r := range p.AllRows() {
		set, err := s.rowSet(r)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", r.Kind, r.Name, err)
		}
		set.index = len(s.Sets)
		s.Sets = append(s.Sets, set)
	}
	inputs := append(p.AxisNames(), p.InputNames()...)
	for _, u := range p.Unknowns {
		offset, err := expr.Compile([]*expr.Expr{u.Ansatz.Offset}, inputs)
		if err != nil {
			return nil, fmt.Errorf("ansatz offset: %w", err)
		}
		multiplier, err := expr.Compile([]*expr.Expr{u.Ansatz.Multiplier}, inputs)
		if err != nil {
			return nil, fmt.Errorf("ansatz multiplier: %w", err)
		}
		s.offsets, s.multipliers = append(s.offsets, offset), append(s.multipliers, multiplier)
	}
	for a, axis := range g.Axes[1:] {
		stride := g.Strides()[1+a]
		x := make([]float64, s.SliceSize())
		for i := range x {
			x[i] = axis.Coordinate(i / stride % axis.Points)
		}
		s.coordinates = append(s.coordinates, x)
	}
	for _, u := range p.Unknowns {
		w, err := s.weights(u.Ansatz.MeanWeight)
		if err != nil {
			return nil, fmt.Errorf("ansatz: mean_weight of %s: %w", u.Name, err)
		}
		s.meanWeights = append(s.meanWeights, w)
	}
	if p.duhamel() {
		for _, e := range p.Begins() {
			program, err := expr.Compile([]*expr.Expr{e}, inputs)
			if err != nil {
				return nil, fmt.Errorf("ansatz offset at the first %s: %w", g.Axes[0].Name, err)
			}
			s.begins = append(s.begins, program)
		}
		if !p.byRows() {
			s.propagating = sync.OnceValues(s.newPropagator)
		}
	}
	return s, nil
}

// Divide returns what this rank has of the system, on its slab of the grid.
func (s *System) Divide(ranks compute.Ranks) (*System, error) {
	time := s.Grid.Axes[0]
	switch {
	case s.Problem.Steady:
		return nil, fmt.Errorf("problem %s is steady, and only an axis of time is divided among ranks", s.Problem.Name)
	case time.Boundary == grid.Periodic:
		return nil, fmt.Errorf("axis %s is periodic, and is not divided among ranks", time.Name)
	}
	ops := s.operators()
	own, err := slab.New(ranks, time.Points, func(lo, hi int) (below, above int) {
		below, above = s.Grid.Reach(ops, lo, hi)
		return max(below, 1), max(above, 1) // borders of experts are looked at from both sides
	})
	if err != nil {
		return nil, fmt.Errorf("axis %s: %w", time.Name, err)
	}
	d := *s
	d.Whole, d.Slab, d.Grid = s, own, s.Grid.Slices(own.First, own.End-own.First)
	d.Inputs = s.Problem.PlaceInputs(d.Grid)
	d.Terms, d.Sets = slices.Clone(s.Terms), nil
	for i, op := range s.Grid.Divide(d.Grid, ops, own.First, own.Lo-own.First, own.Hi-own.First) {
		d.Terms[i].Operator = op
	}
	for _, set := range s.Sets {
		part := *set
		part.Points, part.Solved = d.Own(set.Points), d.Own(set.Solved)
		d.Sets = append(d.Sets, &part)
	}
	return &d, nil
}

// All returns the system of the whole grid.
func (s *System) All() *System {
	if s.Whole == nil {
		return s
	}
	return s.Whole
}

// FirstPoint returns where Grid begins on the whole grid.
func (s *System) FirstPoint() int {
	if s.Slab == nil {
		return 0
	}
	return s.Slab.First * s.SliceSize()
}

// OwnPoints returns the points of the own slices, which follow each other, among those of Grid.
func (s *System) OwnPoints() (lo, hi int) {
	first, end := s.Slab.Own(s.Grid.Axes[0].Points)
	return first * s.SliceSize(), end * s.SliceSize()
}

// Own returns those of ascending points of the whole grid that lie in own slices, by their
// places among the stored ones.
func (s *System) Own(points []int32) []int32 {
	if s.Slab == nil {
		return points
	}
	own, _ := s.AppendOwn(nil, points)
	return own
}

// AppendOwn appends them to dst, and returns how many points come before them.
func (s *System) AppendOwn(dst, points []int32) (own []int32, before int) {
	width := s.SliceSize()
	lo, _ := slices.BinarySearch(points, int32(s.Slab.Lo*width))
	hi, _ := slices.BinarySearch(points, int32(s.Slab.Hi*width))
	for _, p := range points[lo:hi] {
		dst = append(dst, p-int32(s.FirstPoint()))
	}
	return dst, lo
}

// gridTerms builds the operators; the unknowns themselves are the first terms.
func (p *Problem) gridTerms(s *System) error {
	identity := s.Grid.NewOperator(grid.Product{Coef: 1})
	for c, u := range p.Unknowns {
		s.Terms = append(s.Terms, Operator{u.Name, c, identity})
	}
	var spectral *grid.Spectral // shared, so that terms share its workspaces
	for _, t := range p.Terms {
		if t.Spectral != nil {
			if spectral == nil {
				spectral = s.Grid.NewSpectral()
			}
			op, err := t.Spectral.operator(p, spectral)
			if err != nil {
				return fmt.Errorf("term %s: %w", t.Name, err)
			}
			s.Terms = append(s.Terms, Operator{t.Name, t.Of, op})
			continue
		}
		op, err := s.product(t)
		if err != nil {
			return fmt.Errorf("term %s: %w", t.Name, err)
		}
		s.Terms = append(s.Terms, Operator{t.Name, t.Of, op})
	}
	return nil
}

// product is the operator of a term's factors.
func (s *System) product(t Term) (grid.Operator, error) {
	product := grid.Product{Coef: 1}
	for _, f := range t.Factors {
		i := s.Problem.Axis(f.Axis)
		line, err := f.line(s.Grid.Axes[i], i)
		if err != nil {
			return nil, err
		}
		product.Lines = append(product.Lines, line)
		if t.PerStep {
			product.Coef /= s.Grid.Axes[i].Step()
		}
	}
	return s.Grid.NewOperator(product), nil
}

// line puts a factor on axis i of a grid.
func (f Factor) line(axis grid.Axis, i int) (*grid.Line, error) {
	if e := f.Edge; e != nil {
		return axis.Edge(i, e.High, e.Derivative, e.At, e.Points)
	}
	scheme, err := f.scheme(axis.Step())
	if err != nil {
		return nil, err
	}
	return axis.Derivative(i, scheme)
}

// scheme is that on an axis with the given step, with its ghost values.
func (f Factor) scheme(step float64) (s grid.Scheme, err error) {
	s = f.Scheme
	if s.Low, err = ghostValue(f.Low, step); err == nil {
		s.High, err = ghostValue(f.High, step)
	}
	return s, err
}

// ghostPoints name the points nearest an end in ghost expressions.
var ghostPoints = []string{"inner1", "inner2", "inner3", "inner4"}

// ghostValue evaluates a ghost expression on an axis with the given step.
func ghostValue(e *expr.Expr, step float64) (*grid.GhostValue, error) {
	if e == nil {
		return nil, nil
	}
	e = e.Substitute(map[string]*expr.Expr{"step": expr.Const(step)})
	g, zeros := &grid.GhostValue{}, map[string]*expr.Expr{}
	for i, name := range ghostPoints {
		w, ok := e.Diff(name).Constant()
		if !ok {
			return nil, fmt.Errorf("the ghost value %s is not affine in %s", e, name)
		}
		if w != 0 {
			g.Weights = append(g.Weights, make([]float64, i+1-len(g.Weights))...)
			g.Weights[i] = w
		}
		zeros[name] = expr.Const(0)
	}
	g.Constant, _ = e.Substitute(zeros).Constant()
	return g, nil
}

func (s *System) rowSet(r Rows) (*RowSet, error) {
	set := &RowSet{Name: r.Name, Kind: r.Kind}
	weighted := r.Weight.Times(r.Expr)
	var inputs []string
	for i, t := range s.Terms {
		if weighted.DependsOn(t.Name) {
			set.Terms = append(set.Terms, i)
			inputs = append(inputs, t.Name)
		}
	}
	if len(set.Terms) == 0 {
		return nil, fmt.Errorf("the expression %s uses no term", words.Clip(r.Expr.String(), 120))
	}
	for _, x := range s.extras() {
		if weighted.DependsOn(x.Name) {
			set.Extras = append(set.Extras, x)
			inputs = append(inputs, x.Name)
		}
	}
	var err error
	if set.Points, err = s.rowPoints(set, r.At, r.Skip); err != nil {
		return nil, err
	}
	set.Solved, set.Count = set.Points, len(set.Points)
	if r.SolveSkip != nil {
		if set.Solved, err = s.rowPoints(set, r.At, r.SolveSkip); err != nil {
			return nil, err
		}
	}
	return set, set.compile(weighted, inputs)
}

// rowPoints returns the points of a set's rows, at which all of its terms have values.
func (s *System) rowPoints(set *RowSet, at map[string]string, skip map[string][2]int) (points []int32, err error) {
	var from, end []int
	for _, a := range s.Grid.Axes {
		lo, hi := skip[a.Name][0], a.Points-skip[a.Name][1]
		switch at[a.Name] {
		case "low":
			lo, hi = 0, 1
		case "high":
			lo, hi = a.Points-1, a.Points
		}
		if lo >= hi {
			return nil, fmt.Errorf("axis %s: %d points leave no rows", a.Name, a.Points)
		}
		from, end = append(from, lo), append(end, hi)
	}
	for _, point := range s.Grid.Window(from, end) {
		for _, t := range set.Terms {
			if !s.Terms[t].Defined(int(point)) {
				return nil, fmt.Errorf("term %s has no value at every row (it belongs to the end of an axis, or needs `rows` to leave points out)", s.Terms[t].Name)
			}
		}
		points = append(points, point)
	}
	if len(points) == 0 {
		return nil, fmt.Errorf("no rows are left on a grid of %v points", s.Grid.Shape())
	}
	return points, nil
}

// compile builds the three programs and notes which second derivatives vanish.
func (set *RowSet) compile(weighted *expr.Expr, inputs []string) error {
	n := len(set.Terms)
	set.weighted = weighted
	outputs := []*expr.Expr{weighted}
	counted, made := map[*expr.Expr]bool{}, 0
	// add gives up long before the derivatives are too many to be made.
	add := func(e *expr.Expr) error {
		e.Walk(counted, func(*expr.Expr) { made++ })
		outputs = append(outputs, e)
		if made > 30*maxOperations {
			return fmt.Errorf("%w more than %d operations at a point; more than %d are not tried", ErrLong, maxOperations, maxOperations)
		}
		return nil
	}
	program, err := expr.Compile(outputs, inputs)
	if err != nil {
		return err
	}
	if program.Len() > maxOperations {
		return fmt.Errorf("%w more than %d operations at a point; more than %d are not tried", ErrLong, program.Len(), maxOperations)
	}
	for _, name := range inputs[:n] {
		if err := add(weighted.Diff(name)); err != nil {
			return err
		}
	}
	set.pairs = make([]int, n*n)
	set.Linear = !weighted.Jumps(inputs[:n])
	for j := range n {
		depends := outputs[1+j].Variables()
		for k, name := range inputs[:n] {
			_, found := slices.BinarySearch(depends, name)
			// Not "the second derivative is zero": |u| has none, and is not affine, and sign(u) not even a first one.
			set.Linear = set.Linear && !found
			if k > j {
				continue
			}
			at := -1
			if found {
				if d := outputs[1+j].Diff(name); !equals(d, 0) {
					at = len(outputs)
					if err := add(d); err != nil {
						return err
					}
				}
			}
			set.pairs[j*n+k], set.pairs[k*n+j] = at, at
		}
	}
	set.programs[0] = program
	for order, count := range []int{1 + n, len(outputs)} {
		if set.programs[1+order], err = expr.Compile(outputs[:count], inputs); err != nil {
			return err
		}
	}
	if n := set.programs[2].Len(); n > maxOperations {
		return fmt.Errorf("%w %d operations at a point; more than %d are not tried", ErrLong, n, maxOperations)
	}
	return nil
}

// ErrLong is wrapped by the error of Discretize about an expression that would take
// too long to evaluate.
var ErrLong = errors.New("the expression with its derivatives takes")

// maxOperations bounds the time of everything that evaluates rows; those of the
// problems that come with pihc take less than a hundred.
const maxOperations = 10_000

// equals reports whether an expression is a number of that value.
func equals(e *expr.Expr, value float64) bool {
	v, constant := e.Constant()
	return constant && v == value
}

// extras are all that rows may read beside terms: coordinates and values of inputs at a point and, as flux
// terms do, at its neighbours.
func (s *System) extras() []Extra {
	var all []Extra
	for a, axis := range s.Grid.Axes {
		all = append(all, Extra{Name: axis.Name, Axis: a})
	}
	for i, in := range s.Inputs {
		all = append(all, Extra{Name: in.Name, Axis: -1, Input: i})
	}
	for a, axis := range s.Grid.Axes {
		for _, shift := range []int{1, -1} {
			all = append(all, Extra{Name: shiftedName(axis.Name, a, shift), Axis: a, Along: a, Shift: shift})
		}
	}
	for i, in := range s.Inputs {
		for a := range s.Grid.Axes {
			for _, shift := range []int{1, -1} {
				all = append(all, Extra{Name: shiftedName(in.Name, a, shift), Axis: -1, Input: i, Along: a, Shift: shift})
			}
		}
	}
	return all
}

// SliceSize is the number of points of all axes but the first.
func (s *System) SliceSize() int { return s.Grid.Size() / s.Grid.Axes[0].Points }

// FieldSize is the number of values of a field: the grid's points for every unknown.
func (s *System) FieldSize() int { return len(s.Problem.Unknowns) * s.Grid.Size() }

// InputSize is the number of values of the inputs of a sample: where there is nothing but
// an initial condition, SliceSize.
func (s *System) InputSize() int {
	last := s.Inputs[len(s.Inputs)-1]
	return last.Offset + last.Size
}

// HasOffset reports whether the ansatz has an offset g_0 in whose place the field to
// correct may stand: one that is not zero, of any unknown, the solution of linear rows, or any of a steady problem, where
// it has no initial condition to keep.
func (p *Problem) HasOffset() bool {
	return p.Steady || p.byRows() || slices.ContainsFunc(p.Unknowns, func(u Unknown) bool { return !equals(u.Ansatz.Offset, 0) })
}

// Set returns the set of rows called name, or nil.
func (s *System) Set(name string) *RowSet {
	i := slices.IndexFunc(s.Sets, func(r *RowSet) bool { return r.Name == name })
	if i < 0 {
		return nil
	}
	return s.Sets[i]
}
