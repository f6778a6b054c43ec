// Package engine evaluates experiments: network, constraint and loss on a grid, with predictions for a batch of
// initial conditions, and the loss with its gradient, for parameters in one flat slice. The engine "cpu" is here;
// others register themselves.
package engine

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"

	"pihc/compute"
	"pihc/constraint"
	"pihc/grid"
	"pihc/model"
	"pihc/pde"
)

// A Batch is the inputs of a number of samples and the seeds that decide which
// points each of them is constrained at.
type Batch struct {
	Inputs [][]float64 // per sample: InputSize values, those of pde.Problem.Inputs one after another
	Seeds  []constraint.Seed
	// Pass is the pass of the network that Predict stops after and LossAndGrad
	// trains, from 1; 0 is the last.
	Pass int
	// Previous is, per sample, the field (C, P) that Pass corrects; nil: what the
	// passes before it give.
	Previous [][]float64
	// Directions are, per sample, the fields (C, P) that the last passes added up to
	// Previous, the newest first; read where there are Previous and constraint.directions,
	// in solves over the whole domain.
	Directions [][][]float64
	// Done, once closed, ends LossAndGrad and Predict with context.Canceled, after the
	// sample or the pass through the network in progress; nil: never.
	Done <-chan struct{}
	// Ranks, where not nil, are processes that make this call together, with the same arguments, and share the solves of the experts of
	// every sample among them, of an engine that does so; results are those of one process alone.
	Ranks compute.Ranks
	Training
}

// Training is what LossAndGrad alone reads of a Batch.
type Training struct {
	// Truth is, per sample, the solution (C, P) that loss.data compares with; nil: that
	// term is left out.
	Truth [][]float64
	// Total is the number of samples that means are over where the batch is a part of a
	// larger one; 0: those of this batch.
	Total int
	// Progress is the fraction of training done, for what changes during it.
	Progress float64
	// Field, of an engine that calls it, gets the field (C, P) of every sample, valid until the engine's next call; nil: nobody does. Later segments of an engine
	// that does not begin with its predictions, which have the overlap of the end of training.
	Field func(i int, field []float64)
}

// Canceled is context.Canceled once Done is closed.
func (b *Batch) Canceled() error {
	select {
	case <-b.Done:
		return context.Canceled
	default:
		return nil
	}
}

// Samples is the number of samples that means are over.
func (b *Batch) Samples() int { return cmp.Or(b.Total, len(b.Inputs)) }

// Sample is sample i as a part of the batch.
func (b *Batch) Sample(i int) Batch {
	one := *b
	one.Total = b.Samples()
	one.Inputs, one.Seeds = only(b.Inputs, i), only(b.Seeds, i)
	one.Truth, one.Previous, one.Directions = only(b.Truth, i), only(b.Previous, i), only(b.Directions, i)
	return one
}

// only is the part of a slice with element i, or nil of nil.
func only[E any](all []E, i int) []E {
	if all == nil {
		return nil
	}
	return all[i : i+1]
}

// Stats describes one evaluation of the loss on a batch. All of it is a sum over
// samples, in their order. MeanSquares belongs to the engine and is valid until
// its next call.
type Stats struct {
	Loss        float64   // mean over the batch
	MeanSquares []float64 // per set of rows, mean over the batch
	JumpSquare  float64   // mean square jump across expert borders
	Iterations  float64   // mean solver iterations per expert
	Failed      int       // solves that did not converge
	Fallbacks   int       // adjoints that did not use the matrix asked for
	Skipped     int       // samples that a step of training left out, since their loss or gradient is not finite
}

// Finite reports whether the loss is a finite number.
func (s *Stats) Finite() bool { return !math.IsNaN(s.Loss) && !math.IsInf(s.Loss, 0) }

// Add adds the statistics of further samples of the same batch.
func (s *Stats) Add(o *Stats) {
	for i, v := range o.MeanSquares {
		s.MeanSquares[i] += v
	}
	s.Loss += o.Loss
	s.JumpSquare += o.JumpSquare
	s.Iterations += o.Iterations
	s.Failed += o.Failed
	s.Fallbacks += o.Fallbacks
	s.Skipped += o.Skipped
}

// Scale multiplies the means.
func (s *Stats) Scale(f float64) {
	for i := range s.MeanSquares {
		s.MeanSquares[i] *= f
	}
	s.Loss *= f
	s.JumpSquare *= f
	s.Iterations *= f
}

// A Prediction is the field of one sample and how well it satisfies the
// problem.
type Prediction struct {
	Field       []float64 // (C, P): of every unknown, one after another
	Loss        float64   // as in training
	MeanSquares []float64 // per set of rows, over the whole grid
	JumpRMS     float64
	Experts     []constraint.Outcome // nil for soft
	// Of Repeat, else 0: the passes of the network, the points of the grids of all of them together, those that led to
	// nothing too, and the root of Loss over that of the field that keeps its initial values.
	Passes   int
	Points   int
	Residual float64
}

// An Engine evaluates one spec. T is the precision of the network; everything
// an engine needs is data in the Spec and the Problem, so that another engine
// can be written from the same data and pass the same suite
// (engine/enginetest). params and grad are flat slices in the order of
// Info.Layout.
type Engine[T compute.Float] interface {
	// Info tells what the engine evaluates.
	Info() Info
	// Predict computes the constrained field of every sample of the batch and
	// calls each, in order; the prediction is valid during the call.
	Predict(params []T, batch Batch, each func(i int, p *Prediction) error) error
	// LossAndGrad returns the mean loss over the batch and adds its gradient to
	// grad, sample by sample in their order: the same bits as from one call per
	// sample with the same Total. Nothing is differentiated through passes before
	// the one that is trained.
	LossAndGrad(grad, params []T, batch Batch) (Stats, error)
	// Close ends the engine and frees what it holds.
	Close()
}

// State is what a step of training changes.
type State[T compute.Float] struct {
	Params  []T
	First   []T // Adam's first moment
	Second  []T // Adam's second moment
	Average []T // exponential moving average of Params; nil when off
	Updates int // steps that changed the parameters
}

// A Stepper is an engine that keeps the state of training to itself, where
// parameters and gradients would otherwise travel at every step.
type Stepper[T compute.Float] interface {
	// Begin starts from a state. Its slices are out of date after a Step, until
	// Sync.
	Begin(s *State[T]) error
	// Step is one step of Adam with this learning rate and the constants of the
	// spec's training, clipping and average included. It returns the norm of the
	// gradient before clipping. A step whose loss or norm is not finite leaves the
	// state as it is.
	Step(batch Batch, rate float64) (Stats, float64, error)
	// Sync brings the state given to Begin up to date.
	Sync() error
}

// Options say which engine evaluates a spec, and on what.
type Options struct {
	Name    string            // of the engine; "" is "cpu"
	Plugin  string            // path of the library that an engine works with; "": none
	Grid    *grid.Grid        // nil: the spec's own
	Router  constraint.Router // as Info has it; nil: by the spec
	Blend   float64           // constraint.Options.Blend: such an engine predicts, and does not train
	Workers int               // threads, 0 for all cores; results do not depend on it
	// Samples is how many samples batches mostly have: engine cpu takes those of few points side by side, with the memory of an engine each, while these have half of the
	// machine's at most. Results do not depend on it.
	Samples int
	// Ranks are processes that divide the grid among them, along its first axis, and make all
	// calls together; nil, or one: this process has all of it.
	Ranks compute.Ranks
}

// Constructors make one engine in either precision.
type Constructors struct {
	Float32 func(s *model.Spec, p *pde.Problem, o Options) (Engine[float32], error)
	Float64 func(s *model.Spec, p *pde.Problem, o Options) (Engine[float64], error)
}

var engines = map[string]Constructors{"cpu": {newCPUEngine[float32], newCPUEngine[float64]}}

// Register makes an engine available by name. It panics if the name is
// taken, and is to be called before any engine is made.
func Register(name string, c Constructors) {
	if _, ok := engines[name]; ok {
		panic("engine: Register: the name is taken")
	}
	engines[name] = c
}

// Names are those of all engines, in order.
func Names() []string { return slices.Sorted(maps.Keys(engines)) }

// New makes an engine of a spec. The caller closes it.
func New[T compute.Float](s *model.Spec, p *pde.Problem, o Options) (Engine[T], error) {
	name := cmp.Or(o.Name, "cpu")
	c, ok := engines[name]
	if !ok {
		return nil, fmt.Errorf("engine %q: there is no such engine: want %s", name, strings.Join(Names(), ", "))
	}
	if name == "cpu" && o.Plugin != "" {
		return nil, fmt.Errorf("engine cpu: it has no plugins: %s is for engine xla", o.Plugin)
	}
	if name != "cpu" || o.Ranks != nil {
		return Make[T](c, s, p, o)
	}
	threads := o.Workers
	if threads < 1 {
		threads = runtime.GOMAXPROCS(0)
	}
	one := *s
	one.Training.MicroBatch = 1
	if o.Samples = affordable(&one, p, o, threads); sideBySide(o.Samples, threads) < 2 {
		return Make[T](c, s, p, o)
	}
	first, err := Make[T](c, &one, p, o)
	if err != nil {
		return nil, err
	}
	return newSeveral(first, o.Samples, threads, func(threads int) (Engine[T], error) {
		part := o
		part.Workers = threads
		return Make[T](c, &one, p, part)
	}), nil
}

// Make makes an engine by its constructor in the precision T.
func Make[T compute.Float](c Constructors, s *model.Spec, p *pde.Problem, o Options) (Engine[T], error) {
	if s.Rollout > 1 {
		return newRollout[T](c, s, p, o)
	}
	var e any
	var err error
	if _, ok := any(T(0)).(float32); ok {
		e, err = c.Float32(s, p, o)
	} else {
		e, err = c.Float64(s, p, o)
	}
	if err != nil {
		return nil, err
	}
	return e.(Engine[T]), nil
}
