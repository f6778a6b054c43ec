package engine

import (
	"fmt"
	"math"

	"pihc/compute"
	"pihc/constraint"
	"pihc/internal/slab"
	"pihc/model"
	"pihc/network"
	"pihc/pde"
)

// cpu is the engine that runs on this machine's cores.
type cpu[T compute.Float] struct {
	info   Info
	system *pde.System // or this rank's part of it, whose own points the network has
	points int         // own points
	first  int         // of these among the stored ones
	begin  int         // and on the whole grid
	inputs model.Inputs
	pool   *compute.Pool
	net    model.Evaluator[T]
	loss   *Loss
	// own is the solve of the last pass, by the method; between that of the passes
	// before it, over the whole domain.
	own, between *constraint.Workspace
	crossing     [][]bool // residual rows whose stencil crosses a border; nil: not weighed
	micro        micro[T]
	ubar         []float64 // (C, P): gradient of a sample's loss by its field
	whole        []float64 // of a part of a system: the field of all ranks
	share        []T       // and this rank's share of a sample's gradient
	squares      []float64 // mean squares of a sample
	sums         []float64 // those of Stats and Prediction
}

// micro is the memory of the samples that go through the network together.
type micro[T compute.Float] struct {
	size       int
	input      []T // (size, inputs, P); coordinates filled once
	basis, bar []T // (size, N, C, P), and its gradient
	// Where the network sees a field to correct, or losses are relative, per sample:
	previous  [][]float64 // (C, P): that field; nil: none
	amplitude []float64   // factor of the basis
	base      []float64   // what the loss is divided by
	// directions are, per sample, the corrections (C, P) of its last passes, the newest
	// first; spare is the memory of all of them.
	directions, spare [][][]float64
}

// newCPU builds the engine of a spec on the cores of this machine.
func newCPU[T compute.Float](s *model.Spec, p *pde.Problem, o EngineOptions) (*cpu[T], error) {
	g := o.Grid
	if g == nil {
		var err error
		if g, err = p.Grid(s.Grid); err != nil {
			return nil, err
		}
	}
	sys, err := p.Discretize(g)
	if err != nil {
		return nil, err
	}
	options, err := s.Options(p)
	if err != nil {
		return nil, err
	}
	router := o.Router
	if router == nil {
		if router, err = options.NewRouter(g); err != nil {
			return nil, err
		}
	}
	e := &cpu[T]{system: sys}
	if e.info, err = NewInfo(s, sys, router); err != nil {
		return nil, err
	}
	net, err := model.NewNetwork(s, p)
	if err != nil {
		return nil, err
	}
	if e.inputs, err = model.NewInputs(s, p); err != nil {
		return nil, err
	}
	if o.Ranks != nil && o.Ranks.Size() > 1 {
		if _, ok := net.(network.Divisible); !ok {
			return nil, fmt.Errorf("network.kind: %s: its grid cannot be divided among ranks; want %s", s.Network.Kind, model.DefaultNetwork)
		}
		if e.system, err = sys.Divide(o.Ranks); err != nil {
			return nil, err
		}
		e.whole, e.share = make([]float64, e.info.FieldSize()), make([]T, net.Size())
	}
	first, end := e.system.OwnPoints()
	e.first, e.points, e.begin = first, end-first, e.system.FirstPoint()+first
	e.pool = compute.NewPool(o.Workers)
	if err := e.build(net, options, router); err != nil {
		e.pool.Close()
		return nil, err
	}
	return e, nil
}

// build makes everything that works on the pool.
func (e *cpu[T]) build(net model.Network, options constraint.Options, router constraint.Router) error {
	s, size, stored := e.info.Spec, e.points, e.system.FieldSize()
	field := len(e.info.Problem.Unknowns) * size
	directions := options.Directions
	if e.info.Experts > 1 {
		options.Directions = 0 // multiples that differ between experts are jumps at their borders
	}
	own, err := constraint.New(e.system, s.Outputs(), options, router, e.pool)
	if err != nil {
		return err
	}
	if e.loss, err = NewLoss(e.system, s.Loss, e.pool); err != nil {
		return err
	}
	if r := s.Loss.BorderRows; (r.Start != 1 || r.End != 1) && e.info.Experts > 1 {
		e.crossing = own.Crossing()
	}
	e.own = own.NewWorkspace()
	e.between = e.own
	if s.Network.Passes > 1 && e.info.Experts > 1 {
		options.Experts, options.Router, options.Overlap, options.Directions = nil, "", false, directions
		whole, err := constraint.New(e.system, s.Outputs(), options, nil, e.pool)
		if err != nil {
			return err
		}
		e.between = whole.NewWorkspace()
	}
	n := s.Training.MicroBatch
	if e.share != nil {
		n = 1 // so that gradients are summed over ranks sample by sample
	}
	e.net = network.NewEvaluator[T](net, e.info.Grid.Shape(), n, e.pool, e.system.Slab)
	e.micro = micro[T]{
		size: n, input: make([]T, n*e.inputs.Count()*size), basis: make([]T, n*s.Outputs()*field), bar: make([]T, n*s.Outputs()*field),
		amplitude: make([]float64, n), base: make([]float64, n),
	}
	if len(e.inputs.Features) > 0 || s.Network.Passes > 1 || s.Loss.Relative {
		for range n {
			e.micro.previous = append(e.micro.previous, make([]float64, stored))
		}
	}
	for range n {
		spare := make([][]float64, s.Directions())
		for i := range spare {
			spare[i] = make([]float64, stored)
		}
		e.micro.directions, e.micro.spare = append(e.micro.directions, nil), append(e.micro.spare, spare)
	}
	e.ubar = make([]float64, stored)
	e.squares, e.sums = make([]float64, len(e.system.Sets)), make([]float64, len(e.system.Sets))
	e.fillCoordinates()
	return nil
}

func newCPUEngine[T compute.Float](s *model.Spec, p *pde.Problem, o EngineOptions) (Engine[T], error) {
	e, err := newCPU[T](s, p, o)
	if err != nil {
		return nil, err
	}
	return e, nil
}

// Info implements Engine.
func (e *cpu[T]) Info() Info { return e.info }

// Close ends the workers.
func (e *cpu[T]) Close() { e.pool.Close() }

// Predict implements Engine.
func (e *cpu[T]) Predict(params []T, batch Batch, each func(i int, p *Prediction) error) (err error) {
	defer slab.Recover(&err)
	batch.Progress = 1
	spec, pass := e.info.Spec, e.pass(batch)
	for lo := 0; lo < len(batch.Initial); lo += e.micro.size {
		count := e.load(batch, lo)
		e.forward(params, batch, lo, count, pass, false)
		e.weighBorders(pass, batch.Progress)
		for b := range count {
			i := lo + b
			if err := batch.canceled(); err != nil {
				return err
			}
			x := e.solve(&batch, lo, b, pass)
			field := x.Field()
			p := Prediction{Field: e.allRanks(field), MeanSquares: e.sums}
			p.Loss = e.loss.Evaluate(p.MeanSquares, field, batch.Initial[i], nil, 0)
			jumps := x.Jumps()
			p.JumpRMS = math.Sqrt(jumps.Value)
			p.Loss += spec.Loss.BorderJump*jumps.Value + spec.Loss.BorderSlope*jumps.Slope
			if e.info.Experts > 0 {
				p.Experts = x.Outcomes()
			}
			if err := each(i, &p); err != nil {
				return err
			}
		}
	}
	return nil
}

// allRanks returns the field (C, P) on the whole grid.
func (e *cpu[T]) allRanks(field []float64) []float64 {
	if e.whole == nil {
		return field
	}
	size, stored, width := e.info.Grid.Size(), e.system.Grid.Size(), e.info.SliceSize()
	for c := range e.info.Problem.Unknowns {
		whole := e.whole[c*size : (c+1)*size]
		copy(whole[e.begin:], e.ownPart(field[c*stored:]))
		slab.Join(e.system.Slab, whole, size/width, func(slice int) int { return slice * width })
	}
	return e.whole
}

// ownPart is the own points of a field of one unknown.
func (e *cpu[T]) ownPart(field []float64) []float64 { return field[e.first:][:e.points] }

// LossAndGrad implements Engine.
func (e *cpu[T]) LossAndGrad(grad, params []T, batch Batch) (st Stats, err error) {
	defer slab.Recover(&err)
	clear(e.sums)
	st = Stats{MeanSquares: e.sums}
	scale, pass := 1/float64(batch.total()), e.pass(batch)
	m := &e.micro
	for lo := 0; lo < len(batch.Initial); lo += m.size {
		count := e.load(batch, lo)
		e.forward(params, batch, lo, count, pass, true)
		e.weighBorders(pass, batch.Progress)
		width := len(m.bar) / m.size
		for b := range count {
			bar := m.bar[b*width : (b+1)*width]
			if err := batch.canceled(); err != nil {
				return st, err
			}
			x := e.solve(&batch, lo, b, pass)
			var truth []float64
			if batch.Truth != nil {
				truth = batch.Truth[lo+b]
			}
			e.addLoss(&st, bar, x, batch.Initial[lo+b], truth, m.base[b], scale)
		}
		bars := m.bar[:count*width]
		e.amplify(bars)
		if e.share == nil {
			e.net.Backward(grad, params, bars)
			continue
		}
		clear(e.share)
		e.net.Backward(e.share, params, bars)
		e.net.(network.DividedEvaluator[T]).SumOverRanks(e.share)
		for i, v := range e.share {
			grad[i] += v
		}
	}
	return st, nil
}

// pass is the pass a batch asks for.
func (e *cpu[T]) pass(batch Batch) int {
	passes := e.info.Spec.Network.Passes
	switch {
	case batch.Pass == 0:
		return passes
	case batch.Pass < 0 || batch.Pass > passes:
		panic("engine: there is no such pass")
	}
	return batch.Pass
}

// weighBorders sets the factor of the rows that cross expert borders; fields of
// passes before the last, and those that they correct, have no borders.
func (e *cpu[T]) weighBorders(pass int, progress float64) {
	if e.crossing != nil && pass == e.info.Spec.Network.Passes {
		e.loss.WeighRows(e.crossing, e.info.Spec.Loss.BorderRows.At(progress))
	}
}

// solve runs the constraint of a pass on sample b of the micro-batch, whose first is lo of the
// batch. A pass is trained by the solve that it is used with.
func (e *cpu[T]) solve(batch *Batch, lo, b, pass int) constraint.Solution {
	m, width := &e.micro, len(e.micro.basis)/e.micro.size
	in := constraint.Input[T]{Basis: m.basis[b*width : (b+1)*width], Sample: batch.Initial[lo+b], Directions: m.directions[b], Seed: batch.Seeds[lo+b]}
	if pass > 1 {
		in.Offset = m.previous[b]
	}
	if pass < e.info.Spec.Network.Passes {
		return constraint.Assemble(e.between, in).Solve()
	}
	if e.info.Experts > 1 {
		in.Directions = nil
	}
	if r := e.info.Spec.Constraint.Overlap; r.Start != 0 || r.End != 0 {
		in.Overlap = r.At(batch.Progress)
	}
	return constraint.Assemble(e.own, in).Solve()
}

// addLoss adds the loss of a solved sample, over base, to the statistics and
// writes scale·∂L/∂b to bar (N, C, P).
func (e *cpu[T]) addLoss(st *Stats, bar []T, x constraint.Solution, initial, truth []float64, base, scale float64) {
	relative, spec := scale/base, e.info.Spec.Loss
	clear(e.ubar)
	field := x.Field()
	loss := e.loss.Evaluate(e.squares, field, initial, e.ubar, relative)
	supervised := 0.0
	if truth != nil && spec.Data != 0 {
		unknowns, size, stored := len(e.info.Problem.Unknowns), e.info.Grid.Size(), e.system.Grid.Size()
		distance := make([]float64, 1)
		for c := range unknowns {
			all := truth[c*size : (c+1)*size]
			distance[0] += addDistance(e.ownPart(e.ubar[c*stored:]), e.ownPart(field[c*stored:]), all[e.begin:][:e.points], all, scale*spec.Data/float64(unknowns))
		}
		slab.Sum(e.system.Slab, distance)
		supervised = distance[0]
	}
	jumps := x.Jumps()
	loss += spec.BorderJump*jumps.Value + spec.BorderSlope*jumps.Slope
	constraint.Backward(x, bar, e.ubar, constraint.JumpWeights{Value: relative * spec.BorderJump, Slope: relative * spec.BorderSlope})
	// The conversions keep a compiler from fusing: what is added is what a batch of
	// this sample alone gives.
	st.Loss += float64(relative*loss) + supervised
	for i, v := range e.squares {
		st.MeanSquares[i] += float64(scale * v)
	}
	st.JumpSquare += float64(scale * jumps.Value)
	iterations, failed, fallbacks := x.Count()
	st.Iterations += scale * float64(iterations) / float64(x.Experts())
	st.Failed += failed
	st.Fallbacks += fallbacks
}
