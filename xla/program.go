package xla

import (
	"fmt"

	"pihc/constraint"
	"pihc/engine"
	"pihc/fno"
	"pihc/pde"
)

// plan is all that programs of an experiment are written from.
type plan struct {
	*engine.Plan
	config   fno.Network
	dtype    dtype
	together int // samples of a program
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

// write writes the program of so many samples at once: its outputs are, in training, the gradient
// with theirs added to it, otherwise the field; then statistics, in training the field, and of solves
// what they were like (experts, solveColumns) and JᵀJ (experts, N, N), of every sample.
func (p *plan) write(of loadedKey) (*program, error) {
	g := &sample{plan: p, loadedKey: of, builder: newBuilder()}
	if p.together > 1 {
		g.builder.samples = p.together
	}
	if err := g.build(); err != nil {
		return nil, err
	}
	return &program{g.builder, g.module(g.outputs...)}, nil
}

// sample writes the evaluation of one sample.
type sample struct {
	*builder
	*plan
	loadedKey
	terms   *terms
	loss    *loss
	outputs []value

	given, units    value // (InputSize): the inputs; those as the network sees them
	start, previous value // (C P, 1): what unknowns begin with at all times; the field to correct
	scalars         value
	owners          []value     // per expert (C P): its points
	amplitude       value       // of the basis, a scalar; nothing: 1
	basis           value       // (C P, N): μ Π b
	offset          value       // (C P, 1): g_0; nothing where the ansatz has none
	multiplier      value       // (C P); nothing: 1
	propagator      *propagator // of the ansatz, or nil
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

// supervised says that training compares with solutions.
func (p *plan) supervised() bool { return p.Spec.Loss.Data != 0 }

// arguments are those of a program; what it has no use for is nothing.
type arguments struct {
	params, field, directions, points, truth, gradient value
}

// declare declares the arguments in their order.
func (s *sample) declare() (a arguments) {
	size, inputs := s.size(), s.System.InputSize()
	a.params = s.input(s.dtype, s.config.Size())
	s.given = s.perSample(f64, inputs)
	if !s.Problem.OnlyInitial() {
		s.units = s.perSample(f64, inputs)
	}
	if s.Corrects {
		a.field = s.perSample(f64, size)
	}
	if d := s.constraint.Options.Directions; d > 0 {
		a.directions = s.perSample(f64, d, size)
	}
	if drawn(s.constraint) {
		total := 0
		for _, set := range s.System.Residuals() {
			_, m := rowCounts(s.constraint, set)
			total += s.constraint.Router.Experts() * m
		}
		a.points = s.perSample(i32, total)
	}
	s.scalars = s.perSample(f64, numberCount)
	if s.training && s.supervised() {
		a.truth = s.perSample(f64, size, 1)
	}
	if s.training {
		a.gradient = s.input(s.dtype, s.config.Size())
	}
	return a
}

func (s *sample) build() error {
	a := s.declare()
	s.terms = newTerms(s.builder, s.System)
	s.loss = &loss{terms: s.terms, spec: s.Spec.Loss, weights: s.Weights, inputs: s.given}
	for _, x := range s.Crossing {
		s.loss.crossing = append(s.loss.crossing, s.than("NE", s.integers(ones(x), len(x)), 0))
	}
	if err := s.begin(a.field); err != nil {
		return err
	}
	base := s.scalar(1, f64)
	if s.Spec.Loss.Relative {
		v := s.loss.evaluate(s.start, value{}).loss
		base = s.where(s.than("GT", v, 0), v, base)
	}
	net := newNetwork(s.builder, s.config, s.Grid.Shape(), s.dtype, s.Spec.Network.Matmul, a.params)
	out := s.amplify(s.ofPoints(net.forward(s.ofChannels(s.networkInput()))))
	if err := s.ansatz(s.components(s.convert(out, f64))); err != nil {
		return err
	}
	if a.directions.exists() {
		s.basis = s.withDirections(s.basis, a.directions)
	}
	s.findOwners()

	k, n := s.constraint.Router.Experts(), s.constraint.N
	options := s.constraint.Options.Solver
	options.NewtonCorrection = options.NewtonCorrection && !s.draft
	solver := newSolver(s.terms, k, n, options)
	r := solution{point: point{w: s.full(s.constraint.Options.Start, f64, k, n)}}
	if !s.fixed() {
		s.gatherRows(a.points)
		r = solver.run(s.sets, s.constraint)
	}
	everywhere := s.dot("pn,kn->pk", s.basis, r.w) // (C P, K)
	field := s.assemble(everywhere)
	if s.constraint.Options.Blend > 0 {
		field = s.blend(everywhere)
	}
	e := s.loss.evaluate(field, s.number(numberFactor))
	j := s.jumps(everywhere)
	total := s.add(e.loss, s.add(s.times(j.value, s.Spec.Loss.BorderJump), s.times(j.slope, s.Spec.Loss.BorderSlope)))
	distance, fromTruth := s.scalar(0, f64), value{}
	if a.truth.exists() {
		distance, fromTruth = s.loss.distance(field, a.truth, s.number(numberTruth))
	}
	stats := s.stack(0, append([]value{total, base, j.value, j.slope, distance}, e.squares...)...)

	status := s.full(0, i32, k)
	if s.training {
		relative := s.div(s.number(numberScale), base)
		ubar := s.loss.gradient(e, relative)
		if a.truth.exists() {
			ubar = s.add(ubar, s.mul(fromTruth, s.number(numberScale)))
		}
		alpha := s.addJumps(s.restrict(ubar), j, relative)
		var bar value
		bar, status = s.adjoint(solver, r, alpha)
		s.outputs = []value{s.add(a.gradient, net.backward(s.ofChannels(bar))), stats, s.reshape(field, s.size())}
	} else {
		s.outputs = []value{s.reshape(field, s.size()), stats}
	}
	if !s.fixed() {
		s.outputs = append(s.outputs, s.describe(solver, r, status), r.a)
	}
	for i := range s.outputs {
		if each := s.scalars; i > 0 || !s.training { // all but the gradient are of every sample
			s.align(&s.outputs[i], &each)
		}
	}
	return nil
}

// ofChannels is a field (P, F) of every sample as the network has it, (F, S P), and ofPoints the inverse.
func (s *sample) ofChannels(f value) value {
	if s.samples == 0 {
		return s.transpose(f, 1, 0)
	}
	each := s.scalars
	s.align(&f, &each)
	f = f.whole()
	return s.reshape(s.transpose(f, 2, 0, 1), f.shape[2], f.shape[0]*f.shape[1])
}

func (s *sample) ofPoints(f value) value {
	if s.samples == 0 {
		return s.transpose(f, 1, 0)
	}
	f = s.reshape(f, f.shape[0], s.samples, f.shape[1]/s.samples)
	return s.transpose(f, 1, 2, 0).apart()
}

// begin sets what the unknowns begin with, and the field to correct.
func (s *sample) begin(given value) error {
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
		s.previous = s.where(s.spread(s.than("NE", s.number(numberGiven), 0), []int{s.size(), 1}), s.reshape(given, s.size(), 1), s.start)
	}
	return nil
}

// assemble is the field (C P, 1) of what every expert predicts everywhere, (C P, K).
func (s *sample) assemble(everywhere value) value {
	field := s.at(everywhere, 1, 0)
	for i := 1; i < len(s.owners); i++ {
		field = s.where(s.owners[i], s.at(everywhere, 1, i), field)
	}
	return s.total(s.reshape(field, s.size(), 1), s.offset)
}

// blend is assemble where experts go over into their neighbours.
func (s *sample) blend(everywhere value) value {
	all, field := s.constraint.Shares(), value{}
	if all == nil { // a single expert
		return s.assemble(everywhere)
	}
	shape := append([]int{len(s.Problem.Unknowns)}, s.Grid.Shape()...)
	shares := []value{{}} // of the experts, the last axis varying fastest
	for a, own := range all {
		var next []value
		for _, share := range shares {
			for _, along := range own {
				part := s.spread(s.numbers(along, f64, len(along)), shape, 1+a)
				if share.exists() {
					part = s.mul(share, part)
				}
				next = append(next, part)
			}
		}
		shares = next
	}
	for k, share := range shares {
		field = s.total(field, s.mul(s.reshape(share, s.size()), s.at(everywhere, 1, k)))
	}
	return s.total(s.reshape(field, s.size(), 1), s.offset)
}

// adjoint is the gradient by the network's outputs of the solves' weights and of the field, whose gradient of
// every expert is alpha (C P, K), and how the solves' adjoints went (K).
func (s *sample) adjoint(solver *solver, r solution, alpha value) (bar, status value) {
	lambda, beta := value{}, value{}
	if !s.fixed() {
		o := &s.constraint.Options
		lambda, status = solver.adjoint(r, o.Adjoint, s.dot("pk,pn->kn", alpha, s.basis))
		alpha, beta = s.scatter(solver, alpha, r.w, lambda, o.PaperAdjoint)
	}
	bar = s.dot("pk,kn->pn", s.projectTransposed(alpha), r.w)
	if beta.exists() {
		bar = s.add(bar, s.dot("pk,kn->pn", s.projectTransposed(beta), lambda))
	}
	return s.amplify(s.convert(s.outputsOf(s.withoutDirections(bar)), s.dtype)), status
}

// ones are 1 where x holds.
func ones(x []bool) []int32 {
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

// describe is what the solves were like (K, solveColumns).
func (s *sample) describe(solver *solver, r solution, adjoint value) value {
	number := func(v value) value { return s.convert(v, f64) }
	columns := []value{
		solveStatus: number(r.status), solveIterations: number(r.iterations), solveAccepted: number(r.accepted), solveEvaluations: number(r.evaluations),
		solveCost: r.cost, solveGradient: r.gradient, solvePivot: r.pivot, solveDistance: r.distance,
		solveCorrected: number(r.corrected), solveAdjoint: number(adjoint),
	}
	squares, count := s.full(0, f64, solver.k), s.full(0, f64, solver.k)
	for _, set := range s.sets {
		if set.set.Kind != pde.ResidualRows {
			continue
		}
		out := solver.outputs(set, r.w)
		squares = s.add(squares, s.sum(s.mul(out[0], out[0]), 1))
		count = s.plus(count, float64(set.scale.shape[1]))
		if set.padding.exists() {
			count = s.sub(count, s.sum(number(set.padding), 1))
		}
	}
	return s.stack(1, append(columns, s.sqrt(s.div(squares, count)))...)
}
