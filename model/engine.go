package model

import (
	"math"

	"pihc/constraint"
	"pihc/internal/kernel"
)

// A Batch is a number of initial conditions and the seeds that decide which
// points each of them is constrained at.
type Batch struct {
	Initial [][]float64 // per sample: InitialSize values
	Seeds   []constraint.Seed
	// Progress is the fraction of training done, for what changes during it;
	// LossAndGrad alone reads it.
	Progress float64
}

// Stats describes one evaluation of the loss on a batch. Its slices belong to
// the engine and are valid until its next call.
type Stats struct {
	Loss        float64   // mean over the batch
	MeanSquares []float64 // per set of rows, mean over the batch
	JumpRMS     float64   // root mean square jump across expert borders
	Iterations  float64   // mean solver iterations per expert
	Failed      int       // solves that did not converge
	Fallbacks   int       // adjoints that did not use the matrix asked for
}

// Finite reports whether the loss is a finite number.
func (s *Stats) Finite() bool { return !math.IsNaN(s.Loss) && !math.IsInf(s.Loss, 0) }

// A Prediction is the field of one sample and how well it satisfies the
// problem.
type Prediction struct {
	Field       []float64 // (P)
	Loss        float64   // as in training
	MeanSquares []float64 // per set of rows, over the whole grid
	JumpRMS     float64
	Experts     []constraint.Outcome // nil for soft
}

// An Engine evaluates one spec. T is the precision of the network; everything
// an engine needs is data in the Spec and the Problem, so that another engine
// can be written from the same data and pass the same tests. params and grad
// are flat slices in the order of Layout.
type Engine[T kernel.Float] interface {
	// Predict computes the constrained field of every sample of the batch and
	// calls each, in order; the prediction is valid during the call.
	Predict(params []T, batch Batch, each func(i int, p *Prediction) error) error
	// LossAndGrad returns the mean loss over the batch and adds its gradient to
	// grad.
	LossAndGrad(grad, params []T, batch Batch) Stats
	// Close ends the engine's workers.
	Close()
}
