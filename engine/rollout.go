package engine

import (
	"math"
	"slices"

	"pihc/compute"
	"pihc/constraint"
	"pihc/grid"
	"pihc/internal/kernel"
	"pihc/model"
	"pihc/pde"
)

// newRollout makes the engine of a spec with several segments. The options' router is that of a segment.
func newRollout[T compute.Float](c Constructors, s *model.Spec, p *pde.Problem, o Options) (Engine[T], error) {
	whole, err := o.Grid, error(nil)
	if whole == nil {
		if whole, err = p.Grid(s.Grid); err != nil {
			return nil, err
		}
	}
	of, q, part, err := s.SegmentOn(p, whole)
	if err != nil {
		return nil, err
	}
	o.Grid = part
	e, err := Make[T](c, of, q, o)
	if err != nil {
		return nil, err
	}
	return Rollout(e, s, p, whole, s.Training.MicroBatch)
}

// Rollout returns an engine of all segments of a spec (model.Spec.Segment), by one of a single segment: each begins with what the one
// before has led to. Close closes it too. together is how many samples Predict hands to it at a time.
//
// Predict takes the segments one after another. Losses and mean squares of predictions are those of the whole field, by the rows of
// p on the grid, and of the terms at borders of experts the jump alone. Passes are the most of any segment.
//
// LossAndGrad takes all segments, each begun with the field of the same parameters at the end of the one before, after the pass that
// is trained, through which nothing is differentiated; loss, gradient and statistics are means over them. Where Previous is given,
// segments begin with what it is there.
func Rollout[T compute.Float](e Engine[T], s *model.Spec, p *pde.Problem, g *grid.Grid, together int) (Engine[T], error) {
	r := &rollout[T]{Engine: e, part: e.Info(), together: max(1, together), steps: (g.Axes[0].Points - 1) / s.Segments()}
	r.whole = r.part
	r.whole.Spec, r.whole.Problem, r.whole.Grid, r.whole.Rows = s, p, g, nil
	r.whole.Experts *= s.Segments()
	var err error
	if r.system, r.loss, err = r.whole.wholeLoss(); err != nil {
		e.Close()
		return nil, err
	}
	for _, set := range r.system.Sets {
		r.whole.Rows = append(r.whole.Rows, Rows{set.Name, set.Kind, len(set.Points)})
	}
	r.inputs = r.part.Problem.PlaceInputs(r.part.Grid)
	r.start, r.first = make([]float64, r.part.InputSize()), make([]float64, len(p.Unknowns)*r.whole.SliceSize())
	r.sums, r.totals = make([]float64, len(r.whole.Rows)), make([]float64, len(r.whole.Rows))
	r.rates = make([]func(dst, sample []float64), len(p.Unknowns))
	for c, u := range p.Unknowns {
		if r.input(r.start, u.RateName()) != nil {
			r.rates[c] = r.system.NewRate(c)
		}
	}
	return r, nil
}

type rollout[T compute.Float] struct {
	Engine[T]               // of a segment
	part, whole Info        // of a segment and of all
	system      *pde.System // of all
	loss        *Loss
	inputs      []pde.PlacedInput // of a segment
	steps       int               // of a segment that are kept
	together    int
	rates       []func(dst, sample []float64) // per unknown of second order in time: its rate in the first segment

	// Of LossAndGrad: the inputs of a segment, parts of a batch's fields, a sample's gradient and statistics, and those of a batch.
	start        []float64
	parts        [][]float64
	share        []T
	sums, totals []float64
	first        []float64 // (C, SliceSize): what unknowns begin with
}

// Info implements Engine.
func (e *rollout[T]) Info() Info { return e.whole }

// use implements threaded.
func (e *rollout[T]) use(threads int) {
	if of, ok := e.Engine.(threaded); ok {
		of.use(threads)
	}
}

// cut sets dst to segment k of a field (C, P) on the whole grid; past the end is what is there.
func (e *rollout[T]) cut(dst, field []float64, k int) []float64 {
	width, from, to := e.whole.SliceSize(), e.whole.Grid.Size(), e.part.Grid.Size()
	for c := range e.whole.Problem.Unknowns {
		own := dst[c*to : (c+1)*to]
		at := copy(own, field[c*from+k*e.steps*width:(c+1)*from])
		for ; at < to; at += width {
			copy(own[at:at+width], field[(c+1)*from-width:])
		}
	}
	return dst
}

// input is that of a segment's inputs with a name, nil where it has none.
func (e *rollout[T]) input(inputs []float64, name string) []float64 {
	for i := range e.inputs {
		if in := &e.inputs[i]; in.Name == name {
			return in.Of(inputs)
		}
	}
	return nil
}

// begin sets dst to the inputs of the first segment, for those of a sample.
func (e *rollout[T]) begin(dst, sample []float64) {
	for i := range e.system.Inputs {
		in := &e.system.Inputs[i]
		copy(e.input(dst, in.Name), in.Of(sample))
	}
	n := e.whole.SliceSize()
	e.whole.Problem.Persist(e.first, sample, e.whole.Grid)
	for c, u := range e.part.Problem.Unknowns {
		if u.Start.Name() == u.InitialName() {
			copy(e.input(dst, u.InitialName()), e.first[c*n:(c+1)*n])
		}
		if rate := e.input(dst, u.RateName()); rate != nil {
			e.rates[c](rate, sample)
		}
	}
	copy(e.input(dst, pde.SegmentBegin), []float64{0})
}

// move sets what segment k begins with in its inputs, by a field on the grid of the one before.
func (e *rollout[T]) move(dst, field []float64, k int) {
	n, size, axis := e.part.SliceSize(), e.part.Grid.Size(), e.part.Grid.Axes[0]
	beyond := axis.Points - 1 - e.steps
	for c, u := range e.part.Problem.Unknowns {
		own := field[c*size : (c+1)*size]
		if u.Start.Name() == u.InitialName() {
			copy(e.input(dst, u.InitialName()), own[e.steps*n:])
		}
		rate := e.input(dst, u.RateName())
		if rate == nil {
			continue
		}
		offsets := make([]float64, 2*beyond+1)
		for i := range offsets {
			offsets[i] = float64(i - beyond)
		}
		clear(rate)
		for i, w := range grid.Fornberg(1, 0, offsets) {
			kernel.Axpy64(rate, w/axis.Step(), own[(e.steps+i-beyond)*n:][:n])
		}
	}
	copy(e.input(dst, pde.SegmentBegin), []float64{float64(k*e.steps) * axis.Step()})
}

// segment is segment k of the batch of a sample, whose inputs are given; parts of fields are in buffers.
func (e *rollout[T]) segment(batch Batch, inputs []float64, k int) Batch {
	seed := batch.Seeds[0]
	seed.Sample += uint64(k) << 32
	batch.Inputs, batch.Seeds = [][]float64{inputs}, []constraint.Seed{seed}
	used := 0
	cut := func(field []float64) []float64 {
		if used == len(e.parts) {
			e.parts = append(e.parts, make([]float64, e.part.FieldSize()))
		}
		used++
		return e.cut(e.parts[used-1], field, k)
	}
	if batch.Truth != nil {
		batch.Truth = [][]float64{cut(batch.Truth[0])}
	}
	if batch.Previous != nil {
		batch.Previous = [][]float64{cut(batch.Previous[0])}
	}
	if batch.Directions != nil {
		all := make([][]float64, len(batch.Directions[0]))
		for i, d := range batch.Directions[0] {
			all[i] = cut(d)
		}
		batch.Directions = [][][]float64{all}
	}
	return batch
}

// LossAndGrad implements Engine.
func (e *rollout[T]) LossAndGrad(grad, params []T, batch Batch) (Stats, error) {
	if e.share == nil {
		e.share = make([]T, len(grad))
	}
	clear(e.totals)
	total := Stats{MeanSquares: e.totals}
	for i := range batch.Inputs {
		clear(e.share)
		st, err := e.addSample(params, batch.Sample(i))
		if err != nil {
			return total, err
		}
		total.Add(&st)
		for j, v := range e.share {
			grad[j] += v
		}
	}
	return total, nil
}

// addSample adds the gradient of the batch of a sample to share.
func (e *rollout[T]) addSample(params []T, batch Batch) (Stats, error) {
	count := e.whole.Spec.Segments()
	batch.Total *= count
	clear(e.sums)
	total := Stats{MeanSquares: e.sums}
	e.begin(e.start, batch.Inputs[0])
	for k := range count {
		part := e.segment(batch, e.start, k)
		var field []float64
		part.Field = func(_ int, u []float64) { field = u }
		st, err := e.Engine.LossAndGrad(e.share, params, part)
		if err != nil {
			return total, err
		}
		total.Add(&st)
		if part.Previous != nil {
			field = part.Previous[0]
		}
		switch {
		case k == count-1:
		case field != nil:
			e.move(e.start, field, k+1)
		default:
			part.Training = Training{}
			if err := e.Engine.Predict(params, part, func(_ int, p *Prediction) error {
				e.move(e.start, p.Field, k+1)
				return nil
			}); err != nil {
				return total, err
			}
		}
	}
	return total, nil
}

// Predict implements Engine.
func (e *rollout[T]) Predict(params []T, batch Batch, each func(i int, p *Prediction) error) error {
	batch.Training = Training{}
	samples := make([]rolled, min(e.together, len(batch.Inputs)))
	for i := range samples {
		samples[i].start, samples[i].Field = make([]float64, e.part.InputSize()), make([]float64, e.whole.FieldSize())
	}
	for lo := 0; lo < len(batch.Inputs); lo += len(samples) {
		now := samples[:min(len(samples), len(batch.Inputs)-lo)]
		for i := range now {
			s := &now[i]
			*s = rolled{Prediction: Prediction{Field: s.Field}, batch: batch.Sample(lo + i), start: s.start}
			e.begin(s.start, s.batch.Inputs[0])
		}
		for k := range e.whole.Spec.Segments() {
			if err := e.predict(params, now, k); err != nil {
				return err
			}
		}
		for i := range now {
			e.judge(&now[i])
			if err := each(lo+i, &now[i].Prediction); err != nil {
				return err
			}
		}
	}
	return nil
}

// rolled is a sample on its way.
type rolled struct {
	Prediction
	batch  Batch     // of it alone
	start  []float64 // inputs of the segment
	square float64   // of jumps, the sum over segments
}

// predict predicts segment k of samples, one by one where they have fields to correct.
func (e *rollout[T]) predict(params []T, samples []rolled, k int) error {
	if len(samples) > 1 && samples[0].batch.Previous != nil {
		for i := range samples {
			if err := e.predict(params, samples[i:i+1], k); err != nil {
				return err
			}
		}
		return nil
	}
	var all Batch
	for i := range samples {
		part := e.segment(samples[i].batch, samples[i].start, k)
		part.Inputs, part.Seeds = append(all.Inputs, part.Inputs...), append(all.Seeds, part.Seeds...)
		all = part
	}
	n, from, to := e.whole.SliceSize(), e.part.Grid.Size(), e.whole.Grid.Size()
	return e.Engine.Predict(params, all, func(i int, p *Prediction) error {
		s, first := &samples[i], n // the time that two segments share is that of the earlier
		if k == 0 {
			first = 0
		}
		for c := range e.whole.Problem.Unknowns {
			copy(s.Field[c*to+k*e.steps*n+first:], p.Field[c*from+first:c*from+(e.steps+1)*n])
		}
		s.square += p.JumpRMS * p.JumpRMS
		s.Experts = append(s.Experts, p.Experts...)
		s.Passes, s.Points = max(s.Passes, p.Passes), s.Points+p.Points
		if all.Previous != nil {
			e.move(s.start, all.Previous[i], k+1)
		} else {
			e.move(s.start, p.Field, k+1)
		}
		return nil
	})
}

// judge completes a prediction by what is said of the whole field.
func (e *rollout[T]) judge(s *rolled) {
	inputs, spec := s.batch.Inputs[0], e.whole.Spec
	loss, squares := e.loss.Evaluate(s.Field, inputs)
	jump := s.square / float64(spec.Segments())
	s.Loss, s.MeanSquares, s.JumpRMS = loss+spec.Loss.BorderJump*jump, slices.Clone(squares), math.Sqrt(jump)
	if s.Passes == 0 {
		return
	}
	still := make([]float64, len(s.Field))
	e.whole.Problem.Persist(still, inputs, e.whole.Grid)
	base, _ := e.loss.Evaluate(still, inputs)
	if s.Residual = loss / base; spec.Loss.Form != "norm" {
		s.Residual = math.Sqrt(s.Residual)
	}
}
