// Package xla evaluates experiments on the devices that XLA has a PJRT plugin for (a
// CPU, NVIDIA, AMD, TPU): a [engine.Engine] whose programs are StableHLO text, written
// from the spec, the problem and the grid. One program is the whole evaluation of as many
// samples as training.micro_batch says: network, rows of the terms, all least-squares solves in one loop, field,
// loss, and, in training, the exact adjoint of the solves and the gradient added to
// that of the samples before. Sampled points and scalars go up, statistics come down.
//
// A program is compiled at its first use, which takes seconds to minutes. The plugin is
// a shared library that the user names; nothing here runs on the engine "cpu" instead.
package xla

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"pihc/compute"
	"pihc/constraint"
	"pihc/engine"
	"pihc/fno"
	"pihc/internal/pjrt"
	"pihc/internal/words"
	"pihc/lm"
	"pihc/model"
	"pihc/pde"
)

// Constructors makes engines on the plugin that their options name.
func Constructors() engine.Constructors {
	return engine.Constructors{Float32: newEngine[float32], Float64: newEngine[float64]}
}

// device implements engine.Engine.
type device[T compute.Float] struct {
	plan
	client  *pjrt.Client
	loaded  map[loadedKey]*loaded
	points  []int32 // drawn, of all experts
	scratch []int32
	squares []float64
	stepper stepper[T]
}

// loadedKey says which program of an engine is meant.
type loadedKey struct {
	constraint *constraint.Constraint
	training   bool
	draft      bool // constraint.Input.Draft
}

// loaded is a program on the device.
type loaded struct {
	loadedKey
	program *pjrt.Program
	tables  []*pjrt.Buffer
	counts  [][]int // of points drawn, per residual and expert
}

func newEngine[T compute.Float](s *model.Spec, p *pde.Problem, o engine.Options) (engine.Engine[T], error) {
	if o.Plugin == "" {
		return nil, errors.New("engine xla: no plugin is named: --plugin FILE or the environment's PIHC_PJRT is a PJRT plugin for the device (docs/guide/cluster.md)")
	}
	if o.Ranks != nil {
		return nil, errors.New("engine xla: a device has whole grids; only engine cpu divides them among ranks")
	}
	e, err := prepare[T](s, p, o)
	if err != nil {
		return nil, err
	}
	if e.client, err = pjrt.Open(o.Plugin); err != nil {
		return nil, fmt.Errorf("engine xla: %w", err)
	}
	return e, nil
}

// prepare returns an engine without its device, which can write programs.
func prepare[T compute.Float](s *model.Spec, p *pde.Problem, o engine.Options) (*device[T], error) {
	e := &device[T]{plan: plan{dtype: elementOf[T](), together: s.Training.MicroBatch}, loaded: map[loadedKey]*loaded{}}
	var err error
	if e.Plan, err = engine.NewPlan(s, p, o, nil); err != nil {
		return nil, err
	}
	if s.Method != model.Soft {
		if err := checkSolver(e.Last.Options.Solver); err != nil {
			return nil, err
		}
	}
	e.Plan.Together = e.together > 1
	var ok bool
	if e.config, ok = e.Network.(fno.Network); !ok {
		return nil, errors.New("network.kind: engine xla runs Fourier neural operators (fno) alone")
	}
	e.squares = make([]float64, len(e.System.Sets))
	return e, nil
}

// Info implements engine.Engine.
func (e *device[T]) Info() engine.Info { return e.Plan.Info }

// Close frees what the engine holds on the device.
func (e *device[T]) Close() {
	for _, l := range e.loaded {
		free(l.tables...)
	}
	clear(e.loaded)
	e.stepper.free()
}

func free(buffers ...*pjrt.Buffer) {
	for _, b := range buffers {
		b.Free()
	}
}

// compiled holds the programs of this process by their text: engines of one experiment
// share them.
var compiled sync.Map

type programKey struct {
	client *pjrt.Client
	text   string
}

// load returns a program of the engine, compiled and with its tables at its first use.
func (e *device[T]) load(key loadedKey) (*loaded, error) {
	if l := e.loaded[key]; l != nil {
		return l, nil
	}
	w, err := e.write(key)
	if err != nil {
		return nil, err
	}
	l := &loaded{loadedKey: key}
	if drawn(key.constraint) {
		for _, set := range e.System.Residuals() {
			counts, _ := rowCounts(key.constraint, set)
			l.counts = append(l.counts, counts)
		}
	}
	if l.program, err = e.compile(w.text); err != nil {
		return nil, err
	}
	if l.tables, err = w.upload(e.client); err != nil {
		free(l.tables...)
		return nil, e.explain("copy tables to the device", err)
	}
	e.loaded[key] = l
	return l, nil
}

// compile returns a program, compiled where this process has not done so before.
func (e *device[T]) compile(text string) (*pjrt.Program, error) {
	key := programKey{e.client, text}
	if p, ok := compiled.Load(key); ok {
		return p.(*pjrt.Program), nil
	}
	p, err := e.client.Compile(text)
	if err != nil {
		return nil, e.explain("compile a program", err)
	}
	compiled.Store(key, p)
	return p, nil
}

// explain says what failed on the device, and for want of memory what needs it.
func (e *device[T]) explain(what string, err error) error {
	if !pjrt.OutOfMemory(err) {
		return fmt.Errorf("engine xla on %s: cannot %s: %w", e.client.Info().Platform, what, err)
	}
	needs, estimateErr := engine.Estimate(e.Spec, e.Problem, e.Grid, 1, 1, true)
	if estimateErr != nil {
		return err
	}
	return fmt.Errorf("engine xla on %s: cannot %s: out of device memory (about %s are needed; most of it depends on %s): %w",
		e.client.Info().Platform, what, words.Size(needs.Parameters+needs.Network+needs.Constraint), needs.Largest(), err)
}

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
					pad(points[:n], most, sets[i])
					at += most
				}
			}
		})
	}
	wait.Wait()
	return pjrt.Upload(e.client, e.points, e.ofAll(total)...)
}

// LossAndGrad implements engine.Engine.
func (e *device[T]) LossAndGrad(grad, params []T, batch engine.Batch) (engine.Stats, error) {
	clear(e.squares)
	st := engine.Stats{MeanSquares: e.squares}
	if len(batch.Inputs) == 0 {
		return st, nil
	}
	w, err := pjrt.Upload(e.client, params, len(params))
	if err != nil {
		return st, e.explain("copy parameters to the device", err)
	}
	defer free(w)
	from, err := pjrt.Upload(e.client, grad, len(grad))
	if err != nil {
		return st, e.explain("copy a gradient to the device", err)
	}
	defer free(from)
	sum, err := e.addSamples(&st, from, w, batch)
	if err != nil {
		return st, err
	}
	defer free(sum)
	if err := pjrt.Download(sum, grad); err != nil {
		return st, e.explain("run a program", err)
	}
	return st, nil
}

// addSamples returns from with the gradient of every sample added to it, a buffer of
// its own.
func (e *device[T]) addSamples(st *engine.Stats, from, params *pjrt.Buffer, batch engine.Batch) (*pjrt.Buffer, error) {
	scale := 1 / float64(batch.Samples())
	var sum *pjrt.Buffer
	err := e.groups(len(batch.Inputs), func(of []int, count int) error {
		if err := batch.Canceled(); err != nil {
			return err
		}
		at := sum
		if at == nil {
			at = from
		}
		r, err := e.evaluate(run{batch: batch, of: of, count: count, progress: batch.Progress, scale: scale, sum: at, params: params})
		if err != nil {
			return err
		}
		defer free(r.gram, r.fields)
		free(sum)
		sum = r.first
		if batch.Field != nil {
			fields := make([]float64, len(of)*e.FieldSize())
			if err := pjrt.Download(r.fields, fields); err != nil {
				return e.explain("copy fields from the device", err)
			}
			for j, i := range of[:count] {
				batch.Field(i, part(fields, j, len(of)))
			}
		}
		for j := range count {
			e.addStats(st, part(r.stats, j, len(of)), part(r.solves, j, len(of)), scale)
		}
		return nil
	})
	if err != nil {
		free(sum)
		return nil, err
	}
	return sum, nil
}

// addStats adds those of a sample. The conversions keep a compiler from fusing: what is
// added is what a batch of this sample alone gives.
func (e *device[T]) addStats(st *engine.Stats, stats, solves []float64, scale float64) {
	st.Loss += float64(scale/stats[statBase]*stats[statLoss]) + float64(scale*stats[statDistance])
	for i, v := range stats[statCount:] {
		st.MeanSquares[i] += float64(scale * v)
	}
	st.JumpSquare += float64(scale * stats[statJump])
	iterations, experts := 0.0, len(solves)/solveColumns
	for k := range experts {
		row := solves[k*solveColumns:]
		iterations += row[solveIterations]
		if lm.Status(row[solveStatus]).Early() {
			st.Failed++
		}
		if lm.Hessian(row[solveAdjoint]) != e.Last.Options.Adjoint {
			st.Fallbacks++
		}
	}
	if experts > 0 {
		st.Iterations += float64(scale * iterations / float64(experts))
	}
}

// Predict implements engine.Engine.
func (e *device[T]) Predict(params []T, batch engine.Batch, each func(i int, p *engine.Prediction) error) error {
	w, err := pjrt.Upload(e.client, params, len(params))
	if err != nil {
		return e.explain("copy parameters to the device", err)
	}
	defer func() { free(w) }()
	fields := make([]float64, e.together*e.FieldSize())
	return e.groups(len(batch.Inputs), func(of []int, count int) error {
		if err := batch.Canceled(); err != nil {
			return err
		}
		r, err := e.evaluate(run{batch: batch, of: of, count: count, progress: 1, params: w})
		if err != nil {
			return err
		}
		var outcomes []constraint.Outcome
		err = pjrt.Download(r.first, fields)
		if err == nil {
			outcomes, err = e.outcomes(r)
		}
		r.free()
		if err != nil {
			return e.explain("run a program", err)
		}
		experts := len(outcomes) / len(of)
		for j, i := range of[:count] {
			stats := part(r.stats, j, len(of))
			p := engine.Prediction{Field: part(fields, j, len(of)), Loss: stats[statLoss], MeanSquares: stats[statCount:], JumpRMS: math.Sqrt(stats[statJump]), Experts: outcomes[j*experts : (j+1)*experts]}
			if err := each(i, &p); err != nil {
				return err
			}
		}
		return nil
	})
}

// doubtful is the smallest pivot from which on a matrix has full rank without doubt.
const doubtful = 1e-12

// outcomes tells how every expert's solve ended.
func (e *device[T]) outcomes(r result) ([]constraint.Outcome, error) {
	n := e.Last.N
	var gram []float64
	var all []constraint.Outcome
	for k := range len(r.solves) / solveColumns {
		row := r.solves[k*solveColumns:]
		o := constraint.Outcome{ConstraintRMS: row[solveRMS], Result: lm.Result{
			Status: lm.Status(row[solveStatus]), Iterations: int(row[solveIterations]), Accepted: int(row[solveAccepted]), Evaluations: int(row[solveEvaluations]),
			Cost: row[solveCost], Gradient: row[solveGradient], SmallestPivot: row[solvePivot], Rank: n, Distance: row[solveDistance], Corrected: row[solveCorrected] != 0,
		}}
		switch {
		case o.Status == lm.StatusNonFiniteStart:
			o.Rank = 0
		case o.SmallestPivot < doubtful:
			if gram == nil {
				gram = make([]float64, len(r.solves)/solveColumns*n*n)
				if err := pjrt.Download(r.gram, gram); err != nil {
					return nil, err
				}
			}
			o.SetRank(gram[k*n*n:(k+1)*n*n], n)
		}
		all = append(all, o)
	}
	return all, nil
}
