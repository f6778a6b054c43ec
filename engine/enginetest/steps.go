package enginetest

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"pihc/engine"
	"pihc/internal/kernel"
	"pihc/model"
)

// checkSteps: an engine that is a Stepper takes the steps of Adam, by its formulas with
// clipping and average, that the engine's own gradient asks for; leaves a sample that is
// not finite out, and a state as it is where no sample is left; and takes them again,
// bit by bit, from a state given to it.
func checkSteps(s *setup) error {
	const rate, clip, decay = 1e-2, 1e-3, 0.5
	return with(s, engine.Options{}, func(e engine.Engine[float64], spec *model.Spec) error {
		stepper, ok := e.(engine.Stepper[float64])
		if !ok {
			return nil
		}
		take := func(bad ...int) (engine.Stats, float64, error) {
			st, norm, err := stepper.Step(s.poisoned(bad), rate)
			if err == nil {
				err = stepper.Sync()
			}
			return st, norm, err
		}
		want := newState(params(e))
		got := copyState(want)
		if err := stepper.Begin(&got); err != nil {
			return err
		}
		var first engine.State[float64]
		for i, bad := range [][]int{{}, {1}, {}} {
			grad, loss, err := s.gradientWithout(e, want.Params, bad)
			if err != nil {
				return err
			}
			norm := step(&want, grad, spec.Training, rate)
			if norm <= clip {
				return fmt.Errorf("the norm %g is not clipped", norm)
			}
			st, gotNorm, err := take(bad...)
			if err != nil {
				return err
			}
			what := fmt.Sprintf("step %d: ", i+1)
			if st.Skipped != len(bad) || got.Updates != i+1 {
				return fmt.Errorf("%s%d samples left out, %d updates, want %d and %d", what, st.Skipped, got.Updates, len(bad), i+1)
			}
			if err := errors.Join(near(what+"loss", st.Loss, loss, 1e-9), near(what+"norm of the gradient", gotNorm, norm, 1e-9), nearState(what, got, want)); err != nil {
				return err
			}
			if i == 0 {
				first = copyState(got)
			}
			want = copyState(got) // what follows starts from the same bits
		}

		last := copyState(got)
		st, norm, err := take(0, 1, 2)
		if err != nil {
			return err
		}
		if st.FiniteStep(norm) {
			return fmt.Errorf("no sample is finite, but loss %g and norm %g", st.Loss, norm)
		}
		if err := sameState("after a step that does not count", got, last); err != nil {
			return err
		}
		again := copyState(first)
		if err := stepper.Begin(&again); err != nil {
			return err
		}
		_, _, err = take(1)
		_, _, err2 := take()
		return errors.Join(err, err2, sameState("again", again, last))
	}, fmt.Sprint("training.clip=", clip), fmt.Sprint("training.average=", decay), "training.frozen=[lift, output]")
}

// gradientWithout is the gradient of the batch's samples but the bad ones, without that of frozen parameters, and the
// mean of their losses.
func (s *setup) gradientWithout(e engine.Engine[float64], params []float64, bad []int) (grad []float64, loss float64, err error) {
	grad = make([]float64, len(params))
	for i := range samples {
		if slices.Contains(bad, i) {
			continue
		}
		st, err := e.LossAndGrad(grad, params, s.batch.Sample(i))
		if err != nil {
			return nil, 0, err
		}
		loss += st.Loss * samples / float64(samples-len(bad))
	}
	info := e.Info()
	for _, r := range info.Frozen() {
		clear(grad[r[0]:r[1]])
	}
	return grad, loss, nil
}

// nearState compares two states to the rounding of a step.
func nearState(what string, got, want engine.State[float64]) error {
	for _, x := range []struct {
		name      string
		got, want []float64
	}{{"parameter", got.Params, want.Params}, {"first moment", got.First, want.First}, {"second moment", got.Second, want.Second}, {"average", got.Average, want.Average}} {
		largest := 0.0
		for _, v := range x.want {
			largest = max(largest, math.Abs(v))
		}
		for j, v := range x.want {
			if !(math.Abs(x.got[j]-v) <= 1e-7*largest) {
				return fmt.Errorf("%s%s %d is %.15g, want %.15g", what, x.name, j, x.got[j], v)
			}
		}
	}
	return nil
}

// poisoned returns the batch with samples that are not finite.
func (s *setup) poisoned(bad []int) engine.Batch {
	b := s.batch
	b.Inputs = slices.Clone(b.Inputs)
	for _, i := range bad {
		b.Inputs[i] = slices.Clone(b.Inputs[i])
		b.Inputs[i][1] = math.NaN()
	}
	return b
}

func newState(params []float64) engine.State[float64] {
	n := len(params)
	return engine.State[float64]{Params: params, First: make([]float64, n), Second: make([]float64, n), Average: slices.Clone(params)}
}

func copyState(s engine.State[float64]) engine.State[float64] {
	return engine.State[float64]{Params: slices.Clone(s.Params), First: slices.Clone(s.First), Second: slices.Clone(s.Second), Average: slices.Clone(s.Average), Updates: s.Updates}
}

func sameState(what string, got, want engine.State[float64]) error {
	if got.Updates != want.Updates {
		return fmt.Errorf("%s: %d updates, want %d", what, got.Updates, want.Updates)
	}
	return errors.Join(same(what+": parameters", got.Params, want.Params), same(what+": first moments", got.First, want.First),
		same(what+": second moments", got.Second, want.Second), same(what+": average", got.Average, want.Average))
}

// step is one step of Adam by its formulas. It returns the norm of the gradient.
func step(s *engine.State[float64], grad []float64, t model.TrainingSpec, rate float64) float64 {
	norm := 0.0
	for _, g := range grad {
		norm += g * g
	}
	norm = math.Sqrt(norm)
	s.Updates++
	n := float64(s.Updates)
	decay := min(t.Average, (1+n)/(10+n))
	for i, g := range grad {
		g *= min(1, t.Clip/norm)
		s.First[i] = kernel.Beta1*s.First[i] + (1-kernel.Beta1)*g
		s.Second[i] = kernel.Beta2*s.Second[i] + (1-kernel.Beta2)*g*g
		s.Params[i] -= rate * s.First[i] / (1 - math.Pow(kernel.Beta1, n)) / (math.Sqrt(s.Second[i]/(1-math.Pow(kernel.Beta2, n))) + kernel.Epsilon)
		s.Average[i] = decay*s.Average[i] + (1-decay)*s.Params[i]
	}
	return norm
}
