package train

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"pihc/compute"
	"pihc/engine"
	"pihc/internal/check"
	"pihc/internal/kernel"
	"pihc/model"
	"pihc/pde"
)

// remote is an engine that keeps the state of training to itself, as one on another
// device: it copies the state it is given and updates its copy by the formulas of
// Adam. Nobody but itself asks it for a gradient.
type remote[T compute.Float] struct {
	engine.Engine[T]
	given *engine.State[T]
	own   engine.State[T]
	steps int // since Begin
}

func newRemote[T compute.Float](s *model.Spec, p *pde.Problem, o engine.Options) (engine.Engine[T], error) {
	o.Name = ""
	e, err := engine.New[T](s, p, o)
	return &remote[T]{Engine: e}, err
}

func init() {
	engine.Register("remote", engine.Constructors{Float32: newRemote[float32], Float64: newRemote[float64]})
}

func (r *remote[T]) LossAndGrad(grad, params []T, batch engine.Batch) (engine.Stats, error) {
	panic("train: asked a Stepper for its gradient")
}

func (r *remote[T]) Begin(s *engine.State[T]) error {
	r.given = s
	r.own = engine.State[T]{
		Params: slices.Clone(s.Params), First: slices.Clone(s.First), Second: slices.Clone(s.Second), Average: slices.Clone(s.Average), Updates: s.Updates,
	}
	return nil
}

func (r *remote[T]) Sync() error {
	copy(r.given.Params, r.own.Params)
	copy(r.given.First, r.own.First)
	copy(r.given.Second, r.own.Second)
	copy(r.given.Average, r.own.Average)
	r.given.Updates = r.own.Updates
	return nil
}

var errLost = errors.New("connection lost")

func (r *remote[T]) Step(batch engine.Batch, rate float64) (engine.Stats, float64, error) {
	s, t := &r.own, r.Info().Spec.Training
	if r.steps++; r.steps > 9 {
		return engine.Stats{}, 0, errLost
	}
	grad := make([]T, len(s.Params))
	st, err := r.Engine.LossAndGrad(grad, s.Params, batch)
	norm := 0.0
	for _, g := range grad {
		norm += float64(g) * float64(g)
	}
	norm = math.Sqrt(norm)
	if err != nil || !st.FiniteStep(norm) {
		return st, norm, err
	}
	scale := 1.0
	if t.Clip > 0 {
		scale = min(1, t.Clip/norm)
	}
	s.Updates++
	n := float64(s.Updates)
	decay := min(t.Average, (1+n)/(10+n))
	for i, g := range grad {
		x := scale * float64(g)
		first, second := kernel.Beta1*float64(s.First[i])+(1-kernel.Beta1)*x, kernel.Beta2*float64(s.Second[i])+(1-kernel.Beta2)*x*x
		s.First[i], s.Second[i] = T(first), T(second)
		s.Params[i] -= T(rate * first / (1 - math.Pow(kernel.Beta1, n)) / (math.Sqrt(second/(1-math.Pow(kernel.Beta2, n))) + kernel.Epsilon))
		s.Average[i] = T(decay*float64(s.Average[i]) + (1-decay)*float64(s.Params[i]))
	}
	return st, norm, nil
}

// Tensors that are frozen keep their initial bits, all others move, and the norm of the
// gradient is that of the others.
func TestFrozen(t *testing.T) {
	e := newExperiment(t, "training.steps=3", "training.average=0", "training.frozen=[lift, output]")
	dir, _ := e.train(t, Options{})
	got, _, err := LoadParams[float32](dir, e.spec, e.problem, LoadOptions{Last: true})
	if err != nil {
		t.Fatal(err)
	}
	runner, err := engine.New[float32](e.spec, e.problem, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer runner.Close()
	info := runner.Info()
	start := engine.InitialParams[float32](info)
	for _, v := range info.Layout {
		lo, hi := v.Offset, v.Offset+v.Size()
		frozen := v.Name == "lift.weight" || v.Name == "lift.bias" || v.Name == "output.weight" || v.Name == "output.bias"
		if same := slices.Equal(got[lo:hi], start[lo:hi]); same != frozen {
			t.Errorf("%s: its initial values: %v, want %v", v.Name, same, frozen)
		}
	}
	free, _ := newExperiment(t, "training.steps=3", "training.average=0").train(t, Options{})
	if a, b := *records(t, dir)[0].GradientNorm, *records(t, free)[0].GradientNorm; !(a < b) {
		t.Errorf("gradient norm %g, with all parameters %g", a, b)
	}

	bad := newExperiment(t, "training.frozen=[lft]")
	_, err = bad.run(context.Background(), filepath.Join(t.TempDir(), "none"), Options{})
	oneLine(t, "no such tensors", err, `training.frozen: the network has no tensors of "lft"; it has those of lift, layers, projection, output`)
}

// An engine that steps by itself is trained as any other: its state comes back for
// validation and checkpoints, a run continues from there bit by bit, and its errors
// end the run.
func TestStepper(t *testing.T) {
	e := newExperiment(t, "network.precision=float64", "training.steps=9", "training.checkpoint=4", "training.validate=3")
	want, _ := e.train(t, Options{})
	whole, _ := e.train(t, Options{Engine: "remote"})
	for _, last := range []bool{false, true} {
		a, am, err := LoadParams[float64](want, e.spec, e.problem, LoadOptions{Last: last})
		if err != nil {
			t.Fatal(err)
		}
		b, bm, err := LoadParams[float64](whole, e.spec, e.problem, LoadOptions{Last: last})
		if err != nil {
			t.Fatal(err)
		}
		if am.Step != bm.Step || am.Updates != bm.Updates || bm.Updates == 0 {
			t.Errorf("step %d after %d updates, want %d after %d", bm.Step, bm.Updates, am.Step, am.Updates)
		}
		check.Close(t, b, a, 1e-9, 0)
	}
	a, b := records(t, want), records(t, whole)
	if len(a) != len(b) {
		t.Fatalf("%d records, want %d", len(b), len(a))
	}
	for i := range a {
		if x := a[i].GradientNorm; x != nil && math.Abs(float64(*b[i].GradientNorm-*x)) > 1e-9*float64(*x) {
			t.Errorf("step %d: gradient norm %g, want %g", a[i].Step, *b[i].GradientNorm, *x)
		}
		if x := a[i].ValidationResidual; x != nil && math.Abs(float64(*b[i].ValidationResidual-*x)) > 1e-9*float64(*x) {
			t.Errorf("step %d: validation %g, want %g", a[i].Step, *b[i].ValidationResidual, *x)
		}
	}

	dir := filepath.Join(t.TempDir(), "run")
	if _, err := e.run(context.Background(), dir, Options{Engine: "remote", stopAt: 5}); !errors.Is(err, ErrInterrupted) {
		t.Fatal(err)
	}
	if _, err := e.run(context.Background(), dir, Options{Engine: "remote", Resume: true}); err != nil {
		t.Fatal(err)
	}
	sameRun(t, "resumed", dir, whole)

	long := e.with(t, "training.steps=12")
	_, err := long.run(context.Background(), filepath.Join(t.TempDir(), "lost"), Options{Engine: "remote"})
	oneLine(t, "an engine that fails", err, "step 10", "connection lost")
	_, err = e.run(context.Background(), filepath.Join(t.TempDir(), "none"), Options{Engine: "gpu"})
	oneLine(t, "no such engine", err, `engine "gpu": there is no such engine: want `, "cpu", "remote")
}
