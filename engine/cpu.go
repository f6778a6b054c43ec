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
	own, between *constraint.Sample
	crossing     [][]bool // residual rows whose stencil crosses a border; nil: not weighed
	micro        micro[T]
	ubar         []float64 // (C, P): gradient of a sample's loss by its field
	whole        []float64 // of a part of a system: the field of all ranks
	share        []T       // and this rank's share of a sample's gradient
	sums         []float64 // of Stats: mean squares
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
	e.own = own.NewSample()
	e.between = e.own
	if s.Network.Passes > 1 && e.info.Experts > 1 {
		options.Experts, options.Router, options.Overlap, options.Directions = nil, "", false, directions
		whole, err := constraint.New(e.system, s.Outputs(), options, nil, e.pool)
		if err != nil {
			return err
		}
		e.between = whole.NewSample()
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
	e.sums = make([]float64, len(e.system.Sets))
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
	e.setOverlap(1)
	spec, pass := e.info.Spec, e.pass(batch)
	for lo := 0; lo < len(batch.Initial); lo += e.micro.size {
		count := e.load(batch, lo)
		e.forward(params, batch, lo, count, pass, false)
		for b := range count {
			i := lo + b
			if err := batch.Canceled(); err != nil {
				return err
			}
			s := e.solve(pass, b, batch.Initial[i], batch.Seeds[i])
			field := s.Field()
			value := e.loss.Evaluate(field, batch.Initial[i], e.borderRows(pass, 1))
			p := Prediction{Field: e.allRanks(field), Loss: value.Loss, MeanSquares: value.MeanSquares}
			jumps := s.Jumps()
			p.JumpRMS = math.Sqrt(jumps.Value)
			p.Loss += spec.Loss.BorderJump*jumps.Value + spec.Loss.BorderSlope*jumps.Slope
			if e.info.Experts > 0 {
				p.Experts = s.Outcomes()
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
	e.setOverlap(batch.Progress)
	scale, pass := 1/float64(batch.Samples()), e.pass(batch)
	m := &e.micro
	for lo := 0; lo < len(batch.Initial); lo += m.size {
		count := e.load(batch, lo)
		e.forward(params, batch, lo, count, pass, true)
		rows := e.borderRows(pass, batch.Progress)
		width := len(m.bar) / m.size
		for b := range count {
			bar := m.bar[b*width : (b+1)*width]
			if err := batch.Canceled(); err != nil {
				return st, err
			}
			s := e.solve(pass, b, batch.Initial[lo+b], batch.Seeds[lo+b])
			var truth []float64
			if batch.Truth != nil {
				truth = batch.Truth[lo+b]
			}
			e.addLoss(&st, bar, s, batch.Initial[lo+b], truth, m.base[b], scale, rows)
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

// setOverlap sets how far experts look beyond their borders.
func (e *cpu[T]) setOverlap(progress float64) {
	if r := e.info.Spec.Constraint.Overlap; r.Start != 0 || r.End != 0 {
		e.own.SetOverlap(r.At(progress))
	}
}

// borderRows is the factor of the rows that cross expert borders; fields of
// passes before the last, and those that they correct, have no borders.
func (e *cpu[T]) borderRows(pass int, progress float64) RowFactor {
	if pass < e.info.Spec.Network.Passes {
		return RowFactor{}
	}
	return RowFactor{e.crossing, e.info.Spec.Loss.BorderRows.At(progress)}
}

// solve runs the constraint of a pass on sample b of the micro-batch. A pass is
// trained by the solve that it is used with.
func (e *cpu[T]) solve(pass, b int, initial []float64, seed constraint.Seed) *constraint.Sample {
	m := &e.micro
	s, directions := e.own, m.directions[b]
	switch {
	case pass < e.info.Spec.Network.Passes:
		s = e.between
	case e.info.Experts > 1:
		directions = nil
	}
	width := len(m.basis) / m.size
	constraint.Load(s, m.basis[b*width:(b+1)*width], initial, directions...)
	if pass > 1 {
		s.SetOffset(m.previous[b])
	}
	s.Draw(seed)
	s.Solve()
	return s
}

// addLoss adds the loss of a solved sample, over base, to the statistics and
// writes scale·∂L/∂b to bar (N, C, P).
func (e *cpu[T]) addLoss(st *Stats, bar []T, s *constraint.Sample, initial, truth []float64, base, scale float64, rows RowFactor) {
	relative, spec := scale/base, e.info.Spec.Loss
	clear(e.ubar)
	value := e.loss.AddGradient(e.ubar, s.Field(), initial, rows, relative)
	supervised := 0.0
	if truth != nil && spec.Data != 0 {
		unknowns, size, stored := len(e.info.Problem.Unknowns), e.info.Grid.Size(), e.system.Grid.Size()
		field, distance := s.Field(), make([]float64, 1)
		for c := range unknowns {
			all := truth[c*size : (c+1)*size]
			distance[0] += addDistance(e.ownPart(e.ubar[c*stored:]), e.ownPart(field[c*stored:]), all[e.begin:][:e.points], all, scale*spec.Data/float64(unknowns))
		}
		slab.Sum(e.system.Slab, distance)
		supervised = distance[0]
	}
	jumps := s.Jumps()
	loss := value.Loss + (spec.BorderJump*jumps.Value + spec.BorderSlope*jumps.Slope)
	constraint.Backward(s, bar, e.ubar, constraint.Jumps{Value: relative * spec.BorderJump, Slope: relative * spec.BorderSlope})
	// The conversions keep a compiler from fusing: what is added is what a batch of
	// this sample alone gives.
	st.Loss += float64(relative*loss) + supervised
	for i, v := range value.MeanSquares {
		st.MeanSquares[i] += float64(scale * v)
	}
	st.JumpSquare += float64(scale * jumps.Value)
	iterations, failed, fallbacks := s.Count()
	st.Iterations += scale * float64(iterations) / float64(s.Experts())
	st.Failed += failed
	st.Fallbacks += fallbacks
}
