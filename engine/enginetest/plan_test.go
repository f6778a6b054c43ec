package enginetest

import (
	"slices"
	"testing"

	"pihc/compute"
	"pihc/constraint"
	"pihc/engine"
	"pihc/model"
	"pihc/network"
	"pihc/pde"
)

// outside is an engine as one writes it outside of package engine, on a Plan: of one pass without features, one
// sample after another.
type outside[T compute.Float] struct {
	*engine.Plan
	net               network.Evaluator[T]
	memory            *constraint.Workspace
	loss              *engine.Loss
	input, basis, bar []T
}

func newOutside[T compute.Float](s *model.Spec, p *pde.Problem, o engine.Options) (engine.Engine[T], error) {
	plan, err := engine.NewPlan(s, p, o, nil)
	if err != nil {
		return nil, err
	}
	loss, err := engine.NewLoss(plan.System, s.Loss, nil)
	if err != nil {
		return nil, err
	}
	n, outputs := plan.Grid.Size(), s.Outputs()*len(p.Unknowns)
	return &outside[T]{
		plan, network.NewEvaluator[T](plan.Network, plan.Grid.Shape(), 1, nil, nil), plan.Last.NewWorkspace(), loss,
		make([]T, plan.Inputs.Count()*n), make([]T, outputs*n), make([]T, outputs*n),
	}, nil
}

func (e *outside[T]) Info() engine.Info { return e.Plan.Info }
func (e *outside[T]) Close()            {}

// solve runs the network and the solve on sample i of a batch.
func (e *outside[T]) solve(params []T, batch *engine.Batch, i int) constraint.Solution {
	input, n := e.input, e.Grid.Size()
	for _, a := range e.Inputs.Axes {
		x := e.Coordinates(a)
		for p := range n {
			input[p] = T(x[p/e.Grid.Strides()[a]%len(x)])
		}
		input = input[n:]
	}
	for p := range n { // the initial condition, at all times
		input[p] = T(batch.Inputs[i][p%e.SliceSize()]) * T(1/e.InputScales[0])
	}
	e.net.Forward(e.basis, params, e.input)
	return e.memory.Assemble(constraint.Input[T]{Basis: e.basis, Sample: batch.Inputs[i], Seed: batch.Seeds[i]}).Solve()
}

func (e *outside[T]) Predict(params []T, batch engine.Batch, each func(i int, p *engine.Prediction) error) error {
	for i, inputs := range batch.Inputs {
		x := e.solve(params, &batch, i)
		field := x.Field()
		loss, squares := e.loss.Evaluate(field, inputs)
		if err := each(i, &engine.Prediction{Field: field, Loss: loss, MeanSquares: squares, Experts: x.Outcomes()}); err != nil {
			return err
		}
	}
	return nil
}

func (e *outside[T]) LossAndGrad(grad, params []T, batch engine.Batch) (engine.Stats, error) {
	sum, scale := engine.Stats{MeanSquares: make([]float64, len(e.Rows))}, 1/float64(batch.Samples())
	for i, inputs := range batch.Inputs {
		x, ubar := e.solve(params, &batch, i), make([]float64, e.FieldSize())
		loss, squares := e.loss.AddGradient(ubar, x.Field(), inputs, scale)
		x.Backward(e.bar, ubar, 0, 0)
		e.net.Backward(grad, params, e.bar)
		iterations, failed, fallbacks := x.Count()
		one := engine.Stats{Loss: loss, MeanSquares: slices.Clone(squares), Iterations: float64(iterations), Failed: failed, Fallbacks: fallbacks}
		one.Scale(scale)
		sum.Add(&one)
	}
	return sum, nil
}

// An engine that is built from a Plan in few lines passes the suite on what it runs.
func TestPlan(t *testing.T) {
	k := &cases[slices.IndexFunc(cases, func(k testCase) bool { return k.name == "hard" })]
	s, err := k.open(engine.Constructors{Float32: newOutside[float32], Float64: newOutside[float64]})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range checks {
		if err := x.run(s); err != nil {
			t.Errorf("%s: %v", x.name, err)
		}
	}
}
