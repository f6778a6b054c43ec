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
	if p.Unknowns[0].Ansatz.ByRows {
		return nil, errors.New("ansatz: duhamel: rows: engine xla solves the linear part by Fourier modes alone (duhamel: true); only engine cpu takes rows. An ansatz with a multiplier, or none, runs on both")
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
