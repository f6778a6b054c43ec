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
	*Plan
	pool *compute.Pool
	net  network.Evaluator[T]
	loss *Loss
	// last and earlier solve the constraints of the plan; they may be the same.
	last, earlier *constraint.Workspace

	slots             []slot[T]
	input, basis, bar []T // (slots, inputs, P), coordinates filled once; (slots, N, C, P), and its gradient

	// Of a part of a system: the points that this rank's network has, how many, and where they
	// begin among those stored and on the whole grid; the field of all ranks; and this rank's
	// share of a sample's gradient.
	points, first, begin int
	whole                []float64
	share                []T

	ubar []float64 // (C, P): gradient of a sample's loss by its field
	sums []float64 // of Stats: mean squares
}

// slot is one of the samples that go through the network together.
type slot[T compute.Float] struct {
	input, basis, bar []T // the sample's part of those of cpu
	corrected         History
	amplitude         float64 // factor of the basis
	base              float64 // what the loss is divided by

	inputs, truth []float64 // of the batch
	seed          constraint.Seed
}

// newCPU builds the engine of a spec on the cores of this machine.
func newCPU[T compute.Float](s *model.Spec, p *pde.Problem, o Options) (*cpu[T], error) {
	if m := s.Network.Matmul; m != "" {
		return nil, fmt.Errorf("network.matmul: %s: engine cpu multiplies float32 numbers as they are; want float32, or engine xla", m)
	}
	e := &cpu[T]{pool: compute.NewPool(o.Workers)}
	var err error
	if e.Plan, err = NewPlan(s, p, o, e.pool); err == nil {
		e.loss, err = NewLoss(e.System, s.Loss, e.pool)
	}
	if err != nil {
		e.pool.Close()
		return nil, err
	}
	e.last = e.Last.NewWorkspace()
	if e.earlier = e.last; e.Earlier != e.Last {
		e.earlier = e.Earlier.NewWorkspace()
	}
	first, end := e.System.OwnPoints()
	e.first, e.points, e.begin = first, end-first, e.System.FirstPoint()+first
	n := s.Training.MicroBatch
	if e.System.Slab != nil {
		n = 1 // so that gradients are summed over ranks sample by sample
		e.whole, e.share = make([]float64, e.FieldSize()), make([]T, e.Network.Layout().Size())
	}
	e.net = network.NewEvaluator[T](e.Network, e.Grid.Shape(), n, e.pool, e.System.Slab)
	e.ubar, e.sums = make([]float64, e.System.FieldSize()), make([]float64, len(e.System.Sets))
	input, outputs := e.Inputs.Count()*e.points, s.Outputs()*len(p.Unknowns)*e.points
	e.slots, e.input, e.basis, e.bar = make([]slot[T], n), make([]T, n*input), make([]T, n*outputs), make([]T, n*outputs)
	for b := range e.slots {
		at := &e.slots[b]
		at.input, at.basis, at.bar = e.input[b*input:][:input], e.basis[b*outputs:][:outputs], e.bar[b*outputs:][:outputs]
		if e.Corrects {
			at.corrected = newHistory(s, e.System.FieldSize())
		}
	}
	e.fillCoordinates()
	return e, nil
}

func newCPUEngine[T compute.Float](s *model.Spec, p *pde.Problem, o Options) (Engine[T], error) {
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

// use implements threaded.
func (e *cpu[T]) use(threads int) { e.pool.Use(threads) }

// Predict implements Engine.
func (e *cpu[T]) Predict(params []T, batch Batch, each func(i int, p *Prediction) error) (err error) {
	defer slab.Recover(&err)
	pass := e.Pass(batch)
	batch.Progress = 1
	for lo := 0; lo < len(batch.Inputs); lo += len(e.slots) {
		slots := e.load(batch, lo)
		e.forward(params, slots, &batch, pass, false)
		for b := range slots {
			if err := batch.Canceled(); err != nil {
				return err
			}
			s := e.solve(pass, &slots[b], &batch, true)
			field := s.Field()
			jump, slope := s.Jumps()
			loss, squares := e.loss.add(nil, field, slots[b].inputs, e.borderRows(pass, 1), 0)
			p := Prediction{Field: e.allRanks(field), Loss: loss + e.jumpLoss(jump, slope), MeanSquares: squares, JumpRMS: math.Sqrt(jump)}
			if e.Experts > 0 {
				p.Experts = s.Outcomes()
			}
			if err := each(lo+b, &p); err != nil {
				return err
			}
		}
	}
	return nil
}

// jumpLoss is the loss of jumps at the borders of experts.
func (e *cpu[T]) jumpLoss(jump, slope float64) float64 {
	return e.Spec.Loss.BorderJump*jump + e.Spec.Loss.BorderSlope*slope
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
	scale, pass := 1/float64(batch.Samples()), e.Pass(batch)
	rows := e.borderRows(pass, batch.Progress)
	for lo := 0; lo < len(batch.Inputs); lo += len(e.slots) {
		slots := e.load(batch, lo)
		e.forward(params, slots, &batch, pass, true)
		for b := range slots {
			if err := batch.Canceled(); err != nil {
				return st, err
			}
			s := e.solve(pass, &slots[b], &batch, false)
			if batch.Field != nil {
				batch.Field(lo+b, e.allRanks(s.Field()))
			}
			e.addLoss(&st, &slots[b], s, rows, scale)
		}
		bars := e.bar[:len(slots)*len(slots[0].bar)]
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

// borderRows is the factor of the rows that cross expert borders; fields of
// passes before the last, and those that they correct, have no borders.
func (e *cpu[T]) borderRows(pass int, progress float64) rowFactor {
	if pass < e.Spec.Network.Passes {
		return rowFactor{}
	}
	return rowFactor{e.Crossing, e.Spec.Loss.BorderRows.At(progress)}
}

// solve runs the constraint of a pass on a sample of a batch, at its fraction of training. A pass is trained by the solve
// that it is used with. A draft, of a pass before the last, is not differentiated.
func (e *cpu[T]) solve(pass int, at *slot[T], batch *Batch, draft bool) constraint.Solution {
	in := constraint.Input[T]{Ranks: batch.Ranks, Basis: at.basis, Sample: at.inputs, Directions: at.corrected.Directions, Seed: at.seed}
	if pass > 1 {
		in.Offset = at.corrected.Field
	}
	if pass < e.Spec.Network.Passes {
		in.Draft = draft
		return e.earlier.Assemble(in).Solve()
	}
	if e.Experts > 1 {
		in.Directions = nil
	}
	if r := e.Spec.Constraint.Overlap; r.Start != 0 || r.End != 0 {
		in.Overlap = r.At(batch.Progress)
	}
	return e.last.Assemble(in).Solve()
}

// addLoss adds the loss of a solved sample, over its base, to the statistics and
// writes scale·∂L/∂b to its bar (N, C, P).
func (e *cpu[T]) addLoss(st *Stats, at *slot[T], s constraint.Solution, rows rowFactor, scale float64) {
	relative, spec, field := scale/at.base, e.Spec.Loss, s.Field()
	clear(e.ubar)
	loss, squares := e.loss.add(e.ubar, field, at.inputs, rows, relative)
	supervised := []float64{0}
	if at.truth != nil && spec.Data != 0 {
		unknowns, size, stored := len(e.Problem.Unknowns), e.Grid.Size(), e.System.Grid.Size()
		for c := range unknowns {
			all := at.truth[c*size : (c+1)*size]
			supervised[0] += addDistance(e.ownPart(e.ubar[c*stored:]), e.ownPart(field[c*stored:]), all[e.begin:][:e.points], all, scale*spec.Data/float64(unknowns))
		}
		slab.Sum(e.System.Slab, supervised)
	}
	jump, slope := s.Jumps()
	s.Backward(at.bar, e.ubar, relative*spec.BorderJump, relative*spec.BorderSlope)
	// The conversions keep a compiler from fusing: what is added is what a batch of
	// this sample alone gives.
	st.Loss += float64(relative*(loss+e.jumpLoss(jump, slope))) + supervised[0]
	for i, v := range squares {
		st.MeanSquares[i] += float64(scale * v)
	}
	st.JumpSquare += float64(scale * jump)
	iterations, failed, fallbacks := s.Count()
	st.Iterations += scale * float64(iterations) / float64(s.Experts())
	st.Failed += failed
	st.Fallbacks += fallbacks
}
