// Package plain is an engine of another module: one sample after another on one thread, in one pass of the network.
// What a spec means comes from an [engine.Plan]; an engine adds how it runs. Import it for its name, "plain".
package plain

import (
	"errors"
	"math"
	"slices"

	"pihc/compute"
	"pihc/constraint"
	"pihc/engine"
	"pihc/model"
	"pihc/network"
	"pihc/pde"
)

// Constructors are what the suite of engines runs.
var Constructors = engine.Constructors{Float32: newEngine[float32], Float64: newEngine[float64]}

func init() { engine.Register("plain", Constructors) }

type plain[T compute.Float] struct {
	*engine.Plan
	net               network.Evaluator[T]
	solver            *constraint.Workspace
	loss              *engine.Loss
	input, basis, bar []T // (inputs, P), (N, P) and the loss's derivative by basis
}

// Refused says what this engine does not run; "" if it runs the spec.
func Refused(s *model.Spec, p *pde.Problem) string {
	switch {
	case s.Network.Passes > 1 || len(s.Network.Features) > 0 || s.Loss.Relative:
		return "one pass without features"
	case len(p.Unknowns) > 1 || p.Steady || len(p.Inputs) > 1:
		return "one unknown with its initial condition"
	case s.Loss.Data != 0 || s.Loss.BorderRows.Start != 1 || s.Loss.BorderRows.End != 1:
		return "every row with its own weight, and no solutions"
	case s.Constraint.Overlap.Start != 0 || s.Constraint.Overlap.End != 0:
		return "experts without overlap"
	}
	return ""
}

func newEngine[T compute.Float](s *model.Spec, p *pde.Problem, o engine.Options) (engine.Engine[T], error) {
	if what := Refused(s, p); what != "" {
		return nil, errors.New("engine plain runs " + what)
	}
	plan, err := engine.NewPlan(s, p, o, nil)
	if err != nil {
		return nil, err
	}
	if plan.System.Slab != nil {
		return nil, errors.New("engine plain runs on one rank")
	}
	loss, err := engine.NewLoss(plan.System, s.Loss, nil)
	if err != nil {
		return nil, err
	}
	n, outputs := plan.Grid.Size(), s.Outputs()
	return &plain[T]{
		plan, network.NewEvaluator[T](plan.Network, plan.Grid.Shape(), 1, nil, nil), plan.Last.NewWorkspace(), loss,
		make([]T, plan.Inputs.Count()*n), make([]T, outputs*n), make([]T, outputs*n),
	}, nil
}

func (e *plain[T]) Info() engine.Info { return e.Plan.Info }
func (e *plain[T]) Close()            {}

// solve runs the network and the constraint on sample i of a batch.
func (e *plain[T]) solve(params []T, batch *engine.Batch, i int) constraint.Solution {
	input, n := e.input, e.Grid.Size()
	for _, a := range e.Inputs.Axes {
		x := e.Coordinates(a)
		for p := range n {
			input[p] = T(x[p/e.Grid.Strides()[a]%len(x)])
		}
		input = input[n:]
	}
	for p := range n { // the initial condition, at all times
		input[p] = T(batch.Inputs[i][p%e.SliceSize()]-e.InputCenters[0]) * T(1/e.InputScales[0])
	}
	e.net.Forward(e.basis, params, e.input)
	return e.solver.Assemble(constraint.Input[T]{Basis: e.basis, Sample: batch.Inputs[i], Seed: batch.Seeds[i]}).Solve()
}

// jumps is the loss of jumps at the borders of experts.
func (e *plain[T]) jumps(x constraint.Solution) (loss, square float64) {
	square, slope := x.Jumps()
	return e.Spec.Loss.BorderJump*square + e.Spec.Loss.BorderSlope*slope, square
}

func (e *plain[T]) Predict(params []T, batch engine.Batch, each func(i int, p *engine.Prediction) error) error {
	for i, inputs := range batch.Inputs {
		if err := batch.Canceled(); err != nil {
			return err
		}
		x := e.solve(params, &batch, i)
		field := x.Field()
		loss, squares := e.loss.Evaluate(field, inputs)
		jumps, square := e.jumps(x)
		p := &engine.Prediction{Field: field, Loss: loss + jumps, MeanSquares: squares, JumpRMS: math.Sqrt(square)}
		if e.Experts > 0 {
			p.Experts = x.Outcomes()
		}
		if err := each(i, p); err != nil {
			return err
		}
	}
	return nil
}

func (e *plain[T]) LossAndGrad(grad, params []T, batch engine.Batch) (engine.Stats, error) {
	sum, scale := engine.Stats{MeanSquares: make([]float64, len(e.Rows))}, 1/float64(batch.Samples())
	for i, inputs := range batch.Inputs {
		if err := batch.Canceled(); err != nil {
			return sum, err
		}
		x, ubar := e.solve(params, &batch, i), make([]float64, e.FieldSize())
		loss, squares := e.loss.AddGradient(ubar, x.Field(), inputs, scale)
		jumps, square := e.jumps(x)
		x.Backward(e.bar, ubar, scale*e.Spec.Loss.BorderJump, scale*e.Spec.Loss.BorderSlope)
		e.net.Backward(grad, params, e.bar)
		iterations, failed, fallbacks := x.Count()
		one := engine.Stats{
			Loss: loss + jumps, MeanSquares: slices.Clone(squares), JumpSquare: square,
			Iterations: float64(iterations) / float64(x.Experts()), Failed: failed, Fallbacks: fallbacks,
		}
		one.Scale(scale)
		sum.Add(&one)
	}
	return sum, nil
}
