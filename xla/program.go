package xla

import (
	"fmt"
	"slices"

	"pihc/constraint"
	"pihc/engine"
	"pihc/fno"
	"pihc/lm"
	"pihc/pde"
)

// plan is all that programs of an experiment are written from.
type plan struct {
	*engine.Plan
	config fno.Config
	dtype  dtype
}

// Numbers that a program is given, by their place.
const (
	numberScale  = iota // what the gradient is multiplied by
	numberFactor        // of the rows that cross a border
	numberGiven         // 1: the field to correct is given, 0: it is what unknowns begin with at all times
	numberLater         // 1: that field takes the place of the ansatz's offset
	numberTruth         // 1: a solution to compare with is given
	numberCount
)

// Columns of what a program tells of every expert's solve.
const (
	solveStatus = iota
	solveIterations
	solveAccepted
	solveEvaluations
	solveCost
	solveGradient
	solvePivot
	solveDistance
	solveCorrected
	solveAdjoint
	solveRMS
	solveColumns
)

// Places among the statistics of a sample, before the mean squares.
const (
	statLoss = iota
	statBase // what the loss is to be divided by
	statJump
	statSlope
	statDistance // from the solution, with its weight
	statCount
)

// program is a program's text, with the tables that it reads and the order of its
// arguments: parameters, inputs of the sample, those as the network sees them (where
// there are others than an initial condition), field to correct (with memory), corrections of
// earlier passes (where solves have them), points
// of the residual rows (drawn ones), numbers, the solution to compare with (training with
// loss.data), gradient to add to (training).
type program struct {
	*builder
	text string
}

// write writes the program of one sample: its outputs are, in training, the gradient
// with the sample's added to it, otherwise the field; then statistics, and of solves
// what they were like (experts, solveColumns) and JᵀJ (experts, N, N).
func (p *plan) write(c *constraint.Constraint, training bool) (*program, error) {
	g := &sample{plan: p, constraint: c, builder: newBuilder(), training: training}
	if err := g.build(); err != nil {
		return nil, err
	}
	return &program{g.builder, g.module(g.outputs...)}, nil
}

// sample writes the evaluation of one sample.
type sample struct {
	*builder
	*plan
	constraint *constraint.Constraint
	training   bool
	terms      *terms
	loss       *loss
	outputs    []value

	given, units    value // (InitialSize): the inputs; those as the network sees them
	start, previous value // (C P, 1): what unknowns begin with at all times; the field to correct
	scalars         value
	owners          []value // per expert (C P): its points
	amplitude       value   // of the basis, a scalar; nothing: 1
	basis           value   // (C P, N): μ Π b
	offset          value   // (C P, 1): g_0; nothing where the ansatz has none
	multiplier      value   // (C P); nothing: 1
	sets            []rowSet
	points          []value // per set (K, m): points of the rows
}

func (s *sample) gridSize() int { return s.Grid.Size() }
func (s *sample) size() int     { return s.System.FieldSize() }
func (s *sample) width() int    { return s.System.SliceSize() }

func (s *sample) number(i int) value { return s.at(s.scalars, 0, i) }

// fixed says that there are no solves.
func (s *sample) fixed() bool { return s.constraint.Options.Fixed }

// drawn says that points of residual rows are given: those sampled, and all of an
// expert's own where some of them may lie outside its subdomain instead.
func drawn(c *constraint.Constraint) bool {
	return !c.Options.Fixed && (c.Options.Points > 0 || c.Options.Overlap)
}

// rowCounts returns how many points each expert's rows of a set have, and the most of
// these: the length of all experts' rows, the last of which may be padding.
func rowCounts(c *constraint.Constraint, set *pde.RowSet) (counts []int, most int) {
	for i := range c.Router.Experts() {
		counts = append(counts, len(c.Points(set, i)))
	}
	return counts, slices.Max(counts)
}

// supervised says that training compares with solutions.
func (p *plan) supervised() bool { return p.Spec.Loss.Data != 0 }

func (s *sample) build() error {
	size, k := s.size(), s.constraint.Router.Experts()
	params := s.input(s.dtype, s.config.Size())
	s.given = s.input(f64, s.System.InitialSize())
	if !s.Problem.OnlyInitial() {
		s.units = s.input(f64, s.System.InitialSize())
	}
	var field, directions, drawnPoints, truth, before value
	if s.Corrects {
		field = s.input(f64, size)
	}
	if d := s.constraint.Options.Directions; d > 0 {
		directions = s.input(f64, d, size)
	}
	if drawn(s.constraint) {
		total := 0
		for _, set := range s.System.Residuals() {
			_, m := rowCounts(s.constraint, set)
			total += k * m
		}
		drawnPoints = s.input(i32, total)
	}
	s.scalars = s.input(f64, numberCount)
	if s.training && s.supervised() {
		truth = s.input(f64, size, 1)
	}
	if s.training {
		before = s.input(s.dtype, s.config.Size())
	}
	s.terms = newTerms(s.builder, s.System)
	s.loss = &loss{terms: s.terms, spec: s.Spec.Loss, weights: s.Weights, inputs: s.given}
	for _, x := range s.Crossing {
		s.loss.crossing = append(s.loss.crossing, s.than("NE", s.integers(integers(x), len(x)), 0))
	}
	var starts []value
	for _, u := range s.Problem.Unknowns {
		start, err := s.pointwise(u.Start)
		if err != nil {
			return fmt.Errorf("start: %w", err)
		}
		starts = append(starts, start)
	}
	s.start = s.concatenate(0, starts...)
	s.previous = s.start
	if s.Corrects {
		s.previous = s.where(s.spread(s.than("NE", s.number(numberGiven), 0), []int{size, 1}), s.reshape(field, size, 1), s.start)
	}
	base := s.scalar(1, f64)
	if s.Spec.Loss.Relative {
		v := s.loss.evaluate(s.start, value{}).loss
		base = s.where(s.than("GT", v, 0), v, base)
	}
	net := newNetwork(s.builder, s.config, s.Grid.Shape(), s.dtype, params)
	out := s.amplify(net.forward(s.networkInput()))
	if err := s.ansatz(s.components(s.convert(out, f64))); err != nil {
		return err
	}
	if directions.name != "" {
		s.basis = s.withDirections(s.basis, directions)
	}
	s.findOwners()

	n := s.constraint.N
	omega := s.full(s.constraint.Options.Start, f64, k, n)
	var r solution
	solver := newSolver(s.terms, k, n, s.constraint.Options.Solver)
	if !s.fixed() {
		s.gatherRows(drawnPoints)
		r = solver.run(s.sets, s.constraint)
		omega = r.w
	}
	own := s.dot("pn,kn->pk", s.basis, omega) // (C P, K)
	field = s.at(own, 1, 0)
	for i := 1; i < k; i++ {
		field = s.where(s.owners[i], s.at(own, 1, i), field)
	}
	field = s.reshape(field, size, 1)
	if s.offset.name != "" {
		field = s.add(field, s.offset)
	}
	e := s.loss.evaluate(field, s.number(numberFactor))
	j := s.jumps(own)
	total := s.add(e.loss, s.add(s.times(j.value, s.Spec.Loss.BorderJump), s.times(j.slope, s.Spec.Loss.BorderSlope)))
	distance, fromTruth := s.scalar(0, f64), value{}
	if truth.name != "" {
		distance, fromTruth = s.loss.distance(field, truth, s.number(numberTruth))
	}
	stats := s.stack(0, append([]value{total, base, j.value, j.slope, distance}, e.squares...)...)

	status := s.full(0, i32, k)
	if s.training {
		relative := s.div(s.number(numberScale), base)
		ubar := s.loss.gradient(e, relative)
		if truth.name != "" {
			ubar = s.add(ubar, s.mul(fromTruth, s.number(numberScale)))
		}
		alpha := s.restrict(ubar)
		alpha = s.addJumps(alpha, j, relative)
		lambda, beta := value{}, value{}
		if !s.fixed() {
			mode := s.constraint.Options.Adjoint
			lambda, status = solver.adjoint(r, mode, s.dot("pk,pn->kn", alpha, s.basis))
			alpha, beta = s.scatter(solver, alpha, omega, lambda, mode == lm.AdjointPaper)
		}
		bar := s.dot("pk,kn->pn", s.projectTransposed(alpha), omega)
		if beta.name != "" {
			bar = s.add(bar, s.dot("pk,kn->pn", s.projectTransposed(beta), lambda))
		}
		bar = s.amplify(s.convert(s.outputsOf(s.withoutDirections(bar)), s.dtype))
		s.outputs = []value{s.add(before, net.backward(bar)), stats}
	} else {
		s.outputs = []value{s.reshape(field, size), stats}
	}
	if !s.fixed() {
		s.outputs = append(s.outputs, s.describe(solver, r, status), r.a)
	}
	return nil
}

func integers(x []bool) []int32 {
	out := make([]int32, len(x))
	for i, v := range x {
		if v {
			out[i] = 1
		}
	}
	return out
}

// findOwners says which points are whose.
func (s *sample) findOwners() {
	owner, experts := make([]int32, s.size()), s.constraint.Router.Experts()
	for i := range owner {
		owner[i] = int32(s.constraint.Expert(i % s.gridSize()))
	}
	for k := range experts {
		if experts == 1 {
			s.owners = append(s.owners, s.full(1, boolean, s.size()))
			continue
		}
		s.owners = append(s.owners, s.than("EQ", s.integers(owner, len(owner)), float64(k)))
	}
}

// restrict is 1_{Ω_k} of a field (C P, 1): (C P, K).
func (s *sample) restrict(f value) value {
	flat, zero := s.reshape(f, s.size()), s.full(0, f64, s.size())
	var all []value
	for _, mine := range s.owners {
		all = append(all, s.where(mine, flat, zero))
	}
	return s.stack(1, all...)
}

// gatherRows forms the rows of every set for the solves.
func (s *sample) gatherRows(drawnPoints value) {
	c, k := s.constraint, s.constraint.Router.Experts()
	var used []int
	for _, set := range s.System.Sets {
		used = append(used, set.Terms...)
	}
	wholes := s.terms.wholes(used, s.basis)
	offsets := map[int]value{}
	if s.offset.name != "" {
		offsets = s.terms.wholes(used, s.offset)
	}
	at := 0 // in drawnPoints
	for _, set := range s.System.Sets {
		r := rowSet{set: set}
		counts, m := rowCounts(c, set)
		if m == 0 {
			continue
		}
		s.scaleRows(&r, counts, m)
		var points value
		if set.Kind == pde.ResidualRows && drawn(c) {
			points = s.reshape(s.slice(drawnPoints, 0, at, at+k*m), k, m)
			at += k * m
		} else {
			points = s.fixedPoints(set, m)
		}
		flat := s.reshape(points, k*m)
		for _, j := range set.Terms {
			r.terms = append(r.terms, s.reshape(s.terms.rowsOf(j, s.basis, wholes[j], flat), k, m, c.N))
			constant, ok := s.terms.offset(j, flat)
			if s.offset.name != "" {
				v := s.reshape(s.terms.rowsOf(j, s.offset, offsets[j], flat), k*m)
				if ok {
					v = s.add(v, constant)
				}
				constant, ok = v, true
			}
			if ok {
				constant = s.reshape(constant, k, m)
			}
			r.constants = append(r.constants, constant)
		}
		for _, x := range s.terms.extras(set, flat, s.given) {
			r.extras = append(r.extras, s.reshape(x, k, m))
		}
		s.sets, s.points = append(s.sets, r), append(s.points, points)
	}
}

// scaleRows sets what multiplies the squares of a set's rows, of which each expert has a
// number and all have the length m, and which of them are padding.
func (s *sample) scaleRows(r *rowSet, counts []int, m int) {
	k := len(counts)
	if slices.Min(counts) == m {
		r.scale = s.full(s.constraint.Options.RowScale(r.set, m), f64, k, m)
		return
	}
	scale, padding := make([]float64, 0, k*m), make([]int32, 0, k*m)
	for _, n := range counts {
		factor := s.constraint.Options.RowScale(r.set, max(1, n))
		scale = append(scale, slices.Repeat([]float64{factor}, n)...)
		scale = append(scale, make([]float64, m-n)...)
		padding = append(padding, make([]int32, n)...)
		padding = append(padding, slices.Repeat([]int32{1}, m-n)...)
	}
	r.scale = s.numbers(scale, f64, k, m)
	r.padding = s.than("NE", s.integers(padding, k, m), 0)
}

// fixedPoints are the points (K, m) of rows that do not change.
func (s *sample) fixedPoints(set *pde.RowSet, m int) value {
	k := s.constraint.Router.Experts()
	points := make([]int32, 0, k*m)
	for i := range k {
		points = pad(append(points, s.constraint.Points(set, i)...), (i+1)*m, set)
	}
	return s.integers(points, k, m)
}

// pad appends a point at which a set's rows can be formed up to a length.
func pad(points []int32, to int, set *pde.RowSet) []int32 {
	for len(points) < to {
		points = append(points, set.Points[0])
	}
	return points
}

// scatter adds the adjoint rows of all sets to α (C P, K), and forms β (C P, K) of them.
func (s *sample) scatter(solver *solver, alpha, omega, lambda value, paper bool) (sum, beta value) {
	k, size := alpha.shape[1], s.gridSize()
	pulled := map[int]value{} // per term (P, 2K)
	for i, r := range s.sets {
		rows := solver.adjointRows(r, omega, lambda, paper)
		m := s.points[i].shape[1]
		// Expert k writes to its own copy of the grid; padding writes beyond all.
		to := s.add(s.points[i], s.spread(s.times(s.iota(i32, k), float64(size)), []int{k, m}, 0))
		if r.padding.name != "" {
			to = s.where(r.padding, s.full(float64(k*size), i32, k, m), to)
		}
		for j, t := range r.set.Terms {
			both := s.stack(2, rows.s[j], rows.q[j])
			v := s.put(s.full(0, f64, k*size, 2), s.reshape(to, k*m), s.reshape(both, k*m, 2), false)
			v = s.reshape(s.transpose(s.reshape(v, k, size, 2), 1, 2, 0), size, 2*k)
			if have, ok := pulled[t]; ok {
				v = s.add(have, v)
			}
			pulled[t] = v
		}
	}
	fields := s.terms.pullBackAll(pulled, 2*k)
	return s.add(alpha, s.slice(fields, 1, 0, k)), s.slice(fields, 1, k, 2*k)
}

// describe is what the solves were like (K, solveColumns).
func (s *sample) describe(solver *solver, r solution, adjoint value) value {
	columns := make([]value, solveColumns)
	number := func(v value) value { return s.convert(v, f64) }
	columns[solveStatus], columns[solveIterations] = number(r.status), number(r.iterations)
	columns[solveAccepted], columns[solveEvaluations] = number(r.accepted), number(r.evaluations)
	columns[solveCost], columns[solveGradient] = r.cost, r.gradient
	columns[solvePivot], columns[solveDistance] = r.pivot, r.distance
	columns[solveCorrected], columns[solveAdjoint] = number(r.corrected), number(adjoint)
	squares, count := s.full(0, f64, solver.k), s.full(0, f64, solver.k)
	for _, set := range s.sets {
		if set.set.Kind != pde.ResidualRows {
			continue
		}
		out := solver.outputs(set, r.w)
		squares = s.add(squares, s.sum(s.mul(out[0], out[0]), 1))
		count = s.plus(count, float64(set.scale.shape[1]))
		if set.padding.name != "" {
			count = s.sub(count, s.sum(number(set.padding), 1))
		}
	}
	columns[solveRMS] = s.sqrt(s.div(squares, count))
	return s.stack(1, columns...)
}
