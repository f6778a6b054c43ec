package engine

import (
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
	*Plan
	pool *compute.Pool
	net  network.Evaluator[T]
	loss *Loss
	// last and earlier solve the constraints of the plan; they may be the same.
	last, earlier *constraint.Sample
	micro         micro[T]

	// Of a part of a system: the points that this rank's network has, how many, and where they
	// begin among those stored and on the whole grid; the field of all ranks; and this rank's
	// share of a sample's gradient.
	points, first, begin int
	whole                []float64
	share                []T

	ubar []float64 // (C, P): gradient of a sample's loss by its field
	sums []float64 // of Stats: mean squares
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
	e := &cpu[T]{pool: compute.NewPool(o.Workers)}
	var err error
	if e.Plan, err = NewPlan(s, p, o, e.pool); err == nil {
		e.loss, err = NewLoss(e.System, s.Loss, e.pool)
	}
	if err != nil {
		e.pool.Close()
		return nil, err
	}
	e.last = e.Last.NewSample()
	if e.earlier = e.last; e.Earlier != e.Last {
		e.earlier = e.Earlier.NewSample()
	}
	first, end := e.System.OwnPoints()
	e.first, e.points, e.begin = first, end-first, e.System.FirstPoint()+first
	n := s.Training.MicroBatch
	if e.System.Slab != nil {
		n = 1 // so that gradients are summed over ranks sample by sample
		e.whole, e.share = make([]float64, e.FieldSize()), make([]T, e.Network.Size())
	}
	e.net = network.NewEvaluator[T](e.Network, e.Grid.Shape(), n, e.pool, e.System.Slab)
	e.ubar, e.sums = make([]float64, e.System.FieldSize()), make([]float64, len(e.System.Sets))
	e.newMicro(n)
	return e, nil
}

// newMicro makes the memory of n samples.
func (e *cpu[T]) newMicro(n int) {
	basis, stored := n*e.Spec.Outputs()*len(e.Problem.Unknowns)*e.points, e.System.FieldSize()
	e.micro = micro[T]{
		size: n, input: make([]T, n*e.Inputs.Count()*e.points), basis: make([]T, basis), bar: make([]T, basis),
		amplitude: make([]float64, n), base: make([]float64, n), directions: make([][][]float64, n), spare: make([][][]float64, n),
	}
	for b := range n {
		if e.Corrects {
			e.micro.previous = append(e.micro.previous, make([]float64, stored))
		}
		for range e.Spec.Directions() {
			e.micro.spare[b] = append(e.micro.spare[b], make([]float64, stored))
		}
	}
	e.fillCoordinates()
}

func newCPUEngine[T compute.Float](s *model.Spec, p *pde.Problem, o EngineOptions) (Engine[T], error) {
	e, err := newCPU[T](s, p, o)
	if err != nil {
		return nil, err
	}
	return e, nil
}

// Info implements Engine.
func (e *cpu[T]) Info() Info { return e.Plan.Info }

// Close ends the workers.
func (e *cpu[T]) Close() { e.pool.Close() }

// Predict implements Engine.
func (e *cpu[T]) Predict(params []T, batch Batch, each func(i int, p *Prediction) error) (err error) {
	defer slab.Recover(&err)
	e.setOverlap(1)
	spec, pass := e.Spec, e.Pass(batch)
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
			if e.Experts > 0 {
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
	size, stored, width := e.Grid.Size(), e.System.Grid.Size(), e.SliceSize()
	for c := range e.Problem.Unknowns {
		whole := e.whole[c*size : (c+1)*size]
		copy(whole[e.begin:], e.ownPart(field[c*stored:]))
		slab.Join(e.System.Slab, whole, size/width, func(slice int) int { return slice * width })
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
	scale, pass := 1/float64(batch.Samples()), e.Pass(batch)
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

// setOverlap sets how far experts look beyond their borders.
func (e *cpu[T]) setOverlap(progress float64) {
	if r := e.Spec.Constraint.Overlap; r.Start != 0 || r.End != 0 {
		e.last.SetOverlap(r.At(progress))
	}
}

// borderRows is the factor of the rows that cross expert borders; fields of
// passes before the last, and those that they correct, have no borders.
func (e *cpu[T]) borderRows(pass int, progress float64) RowFactor {
	if pass < e.Spec.Network.Passes {
		return RowFactor{}
	}
	return RowFactor{e.Crossing, e.Spec.Loss.BorderRows.At(progress)}
}

// solve runs the constraint of a pass on sample b of the micro-batch. A pass is
// trained by the solve that it is used with.
func (e *cpu[T]) solve(pass, b int, initial []float64, seed constraint.Seed) *constraint.Sample {
	m := &e.micro
	s, directions := e.last, m.directions[b]
	switch {
	case pass < e.Spec.Network.Passes:
		s = e.earlier
	case e.Experts > 1:
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
	relative, spec := scale/base, e.Spec.Loss
	clear(e.ubar)
	value := e.loss.AddGradient(e.ubar, s.Field(), initial, rows, relative)
	supervised := 0.0
	if truth != nil && spec.Data != 0 {
		unknowns, size, stored := len(e.Problem.Unknowns), e.Grid.Size(), e.System.Grid.Size()
		field, distance := s.Field(), make([]float64, 1)
		for c := range unknowns {
			all := truth[c*size : (c+1)*size]
			distance[0] += addDistance(e.ownPart(e.ubar[c*stored:]), e.ownPart(field[c*stored:]), all[e.begin:][:e.points], all, scale*spec.Data/float64(unknowns))
		}
		slab.Sum(e.System.Slab, distance)
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
