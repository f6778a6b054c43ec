package xla

import (
	"errors"
	"slices"
	"sync"

	"pihc/engine"
	"pihc/internal/pjrt"
)

// result is what a program gave for its samples: first is the gradient or the fields, on
// the device.
type result struct {
	first  *pjrt.Buffer
	stats  []float64 // (samples, ...)
	solves []float64 // (samples, experts, solveColumns); nil without solves
	gram   *pjrt.Buffer
	fields *pjrt.Buffer // in training; otherwise they are first
}

func (r *result) free() { free(r.first, r.gram, r.fields) }

// part is that of sample i of n of an array.
func part(x []float64, i, n int) []float64 { return x[i*len(x)/n : (i+1)*len(x)/n] }

// run is the evaluation of samples of a batch by one pass of one program.
type run struct {
	batch    engine.Batch
	of       []int // the samples, as many as a program has: the last is repeated where they are fewer
	count    int   // of them, but for repetitions
	progress float64
	scale    float64      // of the gradient
	sum      *pjrt.Buffer // that the gradient is added to; nil: no training
	params   *pjrt.Buffer

	pass       int
	training   bool
	fields     *pjrt.Buffer // to correct; nil: what unknowns begin with at all times
	directions [][][]float64
}

// groups are the samples of a batch as programs have them.
func (e *device[T]) groups(n int, each func(of []int, count int) error) error {
	of := make([]int, e.together)
	for first := 0; first < n; first += e.together {
		for i := range of {
			of[i] = min(first+i, n-1)
		}
		if err := each(of, min(e.together, n-first)); err != nil {
			return err
		}
	}
	return nil
}

// ofAll is the shape of an array that every sample of a program has one of.
func (p *plan) ofAll(shape ...int) []int {
	if p.together > 1 {
		return append([]int{p.together}, shape...)
	}
	return shape
}

// evaluate runs the passes up to the one that the batch asks for.
func (e *device[T]) evaluate(s run) (r result, err error) {
	last, size := e.Pass(s.batch), e.FieldSize()
	s.pass = 1
	defer func() { free(s.fields) }()
	if s.batch.Previous != nil {
		s.pass = last
		if e.Corrects {
			if s.fields, err = pjrt.Upload(e.client, s.each(func(i int) []float64 { return s.batch.Previous[i] }), e.ofAll(size)...); err != nil {
				return r, e.explain("copy fields to the device", err)
			}
		}
	}
	histories := make([]engine.History, len(s.of))
	for j, i := range s.of {
		histories[j] = e.history(s.batch, i)
	}
	for ; ; s.pass++ {
		s.training, s.directions = s.pass == last && s.sum != nil, nil
		for _, h := range histories {
			s.directions = append(s.directions, h.Directions)
		}
		if r, err = e.one(s); err != nil || s.pass == last {
			return r, err
		}
		free(s.fields, r.gram)
		s.fields = r.first
		if histories[0].Field != nil {
			fields := make([]float64, len(s.of)*size)
			if err := pjrt.Download(s.fields, fields); err != nil {
				return r, e.explain("copy fields from the device", err)
			}
			for j := range histories {
				histories[j].Add(part(fields, j, len(s.of)))
			}
		}
	}
}

// each are arrays of all samples, one after another.
func (s *run) each(of func(i int) []float64) []float64 {
	var all []float64
	for _, i := range s.of {
		all = append(all, of(i)...)
	}
	return all
}

// history is empty, or what a batch gives for its sample i, where solves have directions.
func (e *device[T]) history(batch engine.Batch, i int) (h engine.History) {
	n := e.Spec.Directions()
	switch {
	case n == 0:
	case batch.Previous == nil:
		h = e.NewHistory()
		e.System.Offset(h.Field, batch.Inputs[i])
	case batch.Directions != nil:
		given := batch.Directions[i]
		h.Directions = given[:min(n, len(given))]
	}
	return h
}

// one runs one pass.
func (e *device[T]) one(s run) (result, error) {
	key := loadedKey{e.Last, s.training, false}
	if s.pass < e.Spec.Network.Passes {
		key.constraint, key.draft = e.Earlier, !s.training
	}
	l, err := e.load(key)
	if err != nil {
		return result{}, err
	}
	u := uploads{client: e.client}
	defer func() { free(u.made...) }()
	e.upload(&u, l, s)
	if u.err != nil {
		return result{}, e.explain("copy samples to the device", u.err)
	}
	out, err := l.program.Run(append(u.all, l.tables...)...)
	if err != nil {
		return result{}, e.explain("run a program", err)
	}
	n := len(s.of)
	r := result{first: out[0], stats: make([]float64, n*(statCount+len(e.System.Sets)))}
	err = pjrt.Download(out[1], r.stats)
	free(out[1])
	if out = out[2:]; s.training {
		r.fields, out = out[0], out[1:]
	}
	if len(out) > 0 {
		r.gram, r.solves = out[1], make([]float64, n*l.constraint.Router.Experts()*solveColumns)
		err = errors.Join(err, pjrt.Download(out[0], r.solves))
		free(out[0])
	}
	if err != nil {
		r.free()
		return result{}, e.explain("run a program", err)
	}
	return r, nil
}

// uploads are the arguments of a program, among them those made for it.
type uploads struct {
	client    *pjrt.Client
	all, made []*pjrt.Buffer
	err       error
}

// add adds an array that was copied to the device, or failed to be.
func (u *uploads) add(b *pjrt.Buffer, failed error) {
	u.err = errors.Join(u.err, failed)
	if failed == nil {
		u.all, u.made = append(u.all, b), append(u.made, b)
	}
}

func (u *uploads) numbers(x []float64, shape []int) { u.add(pjrt.Upload(u.client, x, shape...)) }

// upload copies the arguments of a pass to the device, in the order that sample.declare has.
func (e *device[T]) upload(u *uploads, l *loaded, s run) {
	size, inputs, n := e.FieldSize(), e.InputSize(), len(s.of)
	for _, i := range s.of {
		if len(s.batch.Inputs[i]) != inputs {
			panic("xla: inputs of the wrong length")
		}
	}
	scalars := make([]float64, n*numberCount)
	all := func(number int, v float64) {
		for j := range n {
			part(scalars, j, n)[number] = v
		}
	}
	for j := range s.count { // repetitions have no gradient
		part(scalars, j, n)[numberScale] = s.scale
	}
	all(numberFactor, 1)
	if s.pass == e.Spec.Network.Passes {
		all(numberFactor, e.Spec.Loss.BorderRows.At(s.progress))
	}
	if s.pass > 1 {
		all(numberLater, 1)
	}
	u.all = append(u.all, s.params)
	u.numbers(s.each(func(i int) []float64 { return s.batch.Inputs[i] }), e.ofAll(inputs))
	if !e.Problem.OnlyInitial() {
		units := make([]float64, n*inputs)
		for i := range e.System.Inputs {
			in := &e.System.Inputs[i]
			for j, of := range s.of {
				for k, v := range in.Of(s.batch.Inputs[of]) {
					units[j*inputs+in.Offset+k] = in.Sampler.Unit(v)
				}
			}
		}
		u.numbers(units, e.ofAll(inputs))
	}
	switch {
	case !e.Corrects:
	case s.fields != nil:
		all(numberGiven, 1)
		u.all = append(u.all, s.fields)
	default:
		u.numbers(make([]float64, n*size), e.ofAll(size))
	}
	if d := l.constraint.Options.Directions; d > 0 {
		directions := make([]float64, n*d*size)
		for j := range s.of {
			for i, v := range s.directions[j] {
				copy(directions[(j*d+i)*size:], v)
			}
		}
		u.numbers(directions, e.ofAll(d, size))
	}
	if drawn(l.constraint) {
		u.add(e.draw(l, s))
	}
	var truth []float64
	if s.training && e.supervised() {
		truth = make([]float64, n*size)
		if s.batch.Truth != nil {
			truth = s.each(func(i int) []float64 { return s.batch.Truth[i] })
			all(numberTruth, 1)
		}
	}
	u.numbers(scalars, e.ofAll(numberCount))
	if truth != nil {
		u.numbers(truth, e.ofAll(size, 1))
	}
	if s.training {
		u.all = append(u.all, s.sum)
	}
}

// draw samples the points of the residual rows of every expert, all lengths padded to
// the largest.
func (e *device[T]) draw(l *loaded, s run) (*pjrt.Buffer, error) {
	overlap := 0.0
	if l.constraint.Options.Overlap {
		overlap = e.Spec.Constraint.Overlap.At(s.progress)
	}
	sets, total := e.System.Residuals(), 0
	for _, counts := range l.counts {
		total += len(counts) * slices.Max(counts)
	}
	size := len(s.of) * total
	e.points, e.scratch = slices.Grow(e.points[:0], size)[:size], slices.Grow(e.scratch[:0], size)[:size]
	var wait sync.WaitGroup
	for j, sample := range s.of {
		wait.Go(func() {
			at := j * total
			for i, counts := range l.counts {
				most := slices.Max(counts)
				for k, n := range counts {
					points, scratch := e.points[at:at+most], e.scratch[at:at+n]
					l.constraint.SamplePoints(points[:n], scratch, i, k, overlap, s.batch.Seeds[sample])
					pad(points[:n], most, sets[i]) // within points
					at += most
				}
			}
		})
	}
	wait.Wait()
	return pjrt.Upload(e.client, e.points, e.ofAll(total)...)
}
