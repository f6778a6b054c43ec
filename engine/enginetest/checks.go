package enginetest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pihc/compute"
	"pihc/constraint"
	"pihc/engine"
	"pihc/internal/check"
	"pihc/model"
)

func bits[T compute.Float]() int {
	if _, ok := any(T(0)).(float32); ok {
		return 32
	}
	return 64
}

var replace = strings.ReplaceAll

// tolerance64 is the relative difference that sums in another order may make in
// float64.
const tolerance64 = 1e-10

// gradientTolerance bounds the error of differences.
const gradientTolerance = 1e-6

// near returns an error unless the two agree to the relative tolerance.
func near(what string, got, want, tolerance float64) error {
	if !(math.Abs(got-want) <= tolerance*math.Abs(want)) {
		return fmt.Errorf("%s is %.15g, want %.15g", what, got, want)
	}
	return nil
}

// same returns an error unless two slices are bitwise equal.
func same[T compute.Float](what string, got, want []T) error {
	if len(got) != len(want) {
		return fmt.Errorf("%s has length %d, want %d", what, len(got), len(want))
	}
	for i := range got {
		if math.Float64bits(float64(got[i])) != math.Float64bits(float64(want[i])) {
			return fmt.Errorf("%s: element %d is %v, want bitwise %v", what, i, got[i], want[i])
		}
	}
	return nil
}

// result is what one evaluation of the loss gave.
type result[T compute.Float] struct {
	stats engine.Stats
	grad  []T
}

func evaluate[T compute.Float](e engine.Engine[T], params []T, batch engine.Batch) (result[T], error) {
	r := result[T]{grad: make([]T, len(params))}
	var err error
	r.stats, err = e.LossAndGrad(r.grad, params, batch)
	r.stats.MeanSquares = slices.Clone(r.stats.MeanSquares)
	return r, err
}

// likewise is same, or where samples are evaluated together equal but for the rounding of networks of T.
func likewise[T, V compute.Float](what string, got, want []V, together bool) error {
	if !together {
		return same(what, got, want)
	}
	if d := check.RelativeL2(got, want); !(d <= map[int]float64{32: 1e-4, 64: tolerance64}[bits[T]()]) {
		return fmt.Errorf("%s: %.2g from what it was", what, d)
	}
	return nil
}

// equal compares two results bit by bit, or where samples are evaluated together but for rounding.
func (r result[T]) equal(what string, want result[T], together bool) error {
	a, b := r.stats, want.stats
	numbers := func(s engine.Stats) (all []T) {
		for _, v := range append([]float64{s.Loss, s.JumpSquare}, s.MeanSquares...) {
			all = append(all, T(v))
		}
		return all
	}
	err := errors.Join(likewise[T](what+": gradient", r.grad, want.grad, together), same(what+": failed", []float64{float64(a.Failed)}, []float64{float64(b.Failed)}))
	if together {
		return errors.Join(err, likewise[T](what+": loss, jump, mean squares", numbers(a), numbers(b), true))
	}
	return errors.Join(err, same(what+": mean squares", a.MeanSquares, b.MeanSquares),
		same(what+": loss, jump, iterations, fallbacks",
			[]float64{a.Loss, a.JumpSquare, a.Iterations, float64(a.Fallbacks)}, []float64{b.Loss, b.JumpSquare, b.Iterations, float64(b.Fallbacks)}))
}

// params are those of Info.CheckParams.
func params[T compute.Float](e engine.Engine[T]) []T {
	var out []T
	info := e.Info()
	for _, v := range info.CheckParams() {
		out = append(out, T(v))
	}
	return out
}

// predict returns a copy of every prediction.
func predict[T compute.Float](e engine.Engine[T], params []T, batch engine.Batch) ([]engine.Prediction, error) {
	var all []engine.Prediction
	err := e.Predict(params, batch, func(i int, p *engine.Prediction) error {
		if i != len(all) {
			return fmt.Errorf("sample %d comes after %d others", i, len(all))
		}
		q := *p
		q.Field, q.MeanSquares, q.Experts = slices.Clone(p.Field), slices.Clone(p.MeanSquares), slices.Clone(p.Experts)
		all = append(all, q)
		return nil
	})
	if err == nil && len(all) != len(batch.Inputs) {
		err = fmt.Errorf("%d predictions for %d samples", len(all), len(batch.Inputs))
	}
	return all, err
}

// checkInfo compares what the engine says of itself with spec and problem.
func checkInfo(s *setup, e engine.Engine[float64], spec *model.Spec) error {
	info := e.Info()
	router := info.Router
	if _, err := router.Divide(s.system.Grid); err != nil {
		return err
	}
	plan, err := engine.NewPlan(spec, s.problem, engine.Options{Grid: s.system.Grid, Router: router}, nil)
	if err != nil {
		return err
	}
	want := plan.Info
	at, bias := 0, false
	for _, t := range info.Layout {
		if t.Offset != at {
			return fmt.Errorf("tensor %s begins at %d, want %d", t.Name, t.Offset, at)
		}
		at += t.Size()
		bias = bias || t.Name == info.OutputBias.Name && t.Offset == info.OutputBias.Offset
	}
	experts := map[string]int{model.Soft: 0, model.Hard: 1, model.MoE: router.Experts()}[spec.Method] * spec.Segments()
	switch {
	case info.Spec.Method != spec.Method || info.Problem.Name != s.problem.Name || !slices.Equal(info.Grid.Axes, s.system.Grid.Axes):
		return errors.New("it is of another experiment")
	case !bias || info.OutputBias.Size() != spec.Outputs()*len(s.problem.Unknowns):
		return fmt.Errorf("the bias of the outputs, %v, is not in the layout", info.OutputBias)
	case at != info.Parameters() || at != want.Parameters():
		return fmt.Errorf("%d parameters, %d in the layout, want %d", info.Parameters(), at, want.Parameters())
	case !slices.Equal(info.Rows, want.Rows):
		return fmt.Errorf("rows %v, want %v", info.Rows, want.Rows)
	case info.Experts != experts:
		return fmt.Errorf("%d experts, want %d", info.Experts, experts)
	case spec.Method != model.MoE && router.Experts() != 1:
		return fmt.Errorf("router %v", router)
	}
	return same("initial parameters", info.Initial(), want.Initial())
}

// checkBlend: where experts go over into each other the field is that of engine cpu, and not that without.
func checkBlend(s *setup) error {
	if testing.Short() && !slices.Contains([]string{"moe", "steady moe", "rollout moe"}, s.name) {
		return nil // programs of engine xla take seconds to compile
	}
	spec, err := s.load(64)
	if err != nil || spec.Method != model.MoE || spec.Constraint.Router != constraint.DefaultRouter {
		return err
	}
	var all [3][]engine.Prediction
	for i, c := range []struct {
		make  engine.Constructors
		blend float64
	}{{s.make, 0.4}, {cpu, 0.4}, {s.make, 0}} {
		e, err := engine.Make[float64](c.make, spec, s.problem, engine.Options{Workers: 1, Blend: c.blend})
		if err != nil {
			return err
		}
		all[i], err = predict(e, params(e), s.batch)
		e.Close()
		if err != nil {
			return err
		}
	}
	for i, p := range all[0] {
		if d := check.RelativeL2(p.Field, all[1][i].Field); d > 1e-8 {
			return fmt.Errorf("sample %d: the field is %g from that of engine cpu", i, d)
		}
		if d := check.RelativeL2(p.Field, all[2][i].Field); d < 1e-9 {
			return fmt.Errorf("sample %d: the field is the same without", i)
		}
	}
	return nil
}

// checkPrediction: Predict goes through the batch in order, each sample for itself,
// until the caller's function has enough.
func checkPrediction(s *setup, e engine.Engine[float64], spec *model.Spec) error {
	w := params(e)
	all, err := predict(e, w, s.batch)
	if err != nil {
		return err
	}
	info := e.Info()
	for i, p := range all {
		if len(p.Field) != len(s.problem.Unknowns)*info.Grid.Size() || len(p.MeanSquares) != len(info.Rows) || len(p.Experts) != info.Experts {
			return fmt.Errorf("sample %d: %d values, %d mean squares, %d experts", i, len(p.Field), len(p.MeanSquares), len(p.Experts))
		}
		if (p.JumpRMS > 0) != (info.Router.Experts() > 1) {
			return fmt.Errorf("sample %d: a jump of %g between %d experts", i, p.JumpRMS, info.Experts)
		}
		for j := range i {
			if check.RelativeL2(all[j].Field, p.Field) < 1e-3 {
				return fmt.Errorf("samples %d and %d have the same field", j, i)
			}
		}
	}
	if err := alone(s, e, all, info.Together); err != nil {
		return err
	}
	stop, calls := errors.New("stop"), 0
	err = e.Predict(w, s.batch, func(int, *engine.Prediction) error { calls++; return stop })
	if !errors.Is(err, stop) || calls != 1 {
		return fmt.Errorf("the caller's error ends in %v after %d calls", err, calls)
	}
	return nil
}

// alone: the fields are those that every sample has alone.
func alone[T compute.Float](s *setup, e engine.Engine[T], all []engine.Prediction, together bool) error {
	for i, p := range all {
		one, err := predict(e, params(e), s.batch.Sample(i))
		if err == nil {
			err = likewise[T]("a field predicted alone", one[0].Field, p.Field, together)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkGradient compares the gradient of every pass with central differences.
func checkGradient(s *setup, e engine.Engine[float64], spec *model.Spec) error {
	batch := s.batch
	batch.Inputs, batch.Seeds = batch.Inputs[1:], batch.Seeds[1:]
	if batch.Truth != nil {
		batch.Truth = batch.Truth[1:]
	}
	for batch.Pass = 1; batch.Pass <= spec.Network.Passes; batch.Pass++ {
		worst, err := engine.CheckGradient(e, batch, 1)
		if err != nil {
			return err
		}
		if !(worst < gradientTolerance) {
			return fmt.Errorf("pass %d: relative error %.2g of the gradient", batch.Pass, worst)
		}
	}
	return nil
}

// checkRamps: a loss at some progress is that of an engine whose ramps stand still
// there.
func checkRamps(s *setup) error {
	var moving result[float64]
	var still []string
	err := with(s, engine.Options{}, func(e engine.Engine[float64], spec *model.Spec) (err error) {
		moving, err = evaluate(e, params(e), s.batch)
		for key, r := range map[string]model.Ramp{"loss.border_rows": spec.Loss.BorderRows, "constraint.overlap": spec.Constraint.Overlap} {
			v := r.At(s.batch.Progress)
			still = append(still, fmt.Sprintf("%s={start: %g, end: %g, from: 0, to: 1}", key, v, v))
		}
		return err
	})
	if err != nil {
		return err
	}
	return with(s, engine.Options{}, func(e engine.Engine[float64], spec *model.Spec) error {
		batch := s.batch
		batch.Progress = 0.9
		want, err := evaluate(e, params(e), batch)
		if err != nil {
			return err
		}
		if d := check.RelativeL2(moving.grad, want.grad); !(d <= tolerance64) {
			return fmt.Errorf("gradients with values that move and stand still differ by %.2g", d)
		}
		return near("the loss with values that move", moving.stats.Loss, want.stats.Loss, tolerance64)
	}, still...)
}

// checkPasses: a pass corrects what Predict gives for the one before, and is not
// that one.
func checkPasses(s *setup, e engine.Engine[float64], spec *model.Spec) error {
	w, batch := params(e), s.batch
	info := e.Info()
	sys, err := s.problem.Discretize(info.Grid)
	if err != nil {
		return err
	}
	last, led := make([][]float64, len(batch.Inputs)), make([][][]float64, len(batch.Inputs))
	for i, initial := range batch.Inputs {
		last[i] = make([]float64, info.FieldSize())
		sys.Offset(last[i], initial)
	}
	for batch.Pass = 2; batch.Pass <= spec.Network.Passes; batch.Pass++ {
		before := batch
		before.Pass--
		fields, err := predict(e, w, before)
		if err != nil {
			return err
		}
		given := batch
		for i, p := range fields {
			step := slices.Clone(p.Field)
			for j, v := range last[i] {
				step[j] -= v
			}
			last[i], led[i] = p.Field, slices.Insert(led[i], 0, step)
			given.Previous = append(given.Previous, p.Field)
			given.Directions = append(given.Directions, led[i][:min(len(led[i]), spec.Constraint.Directions)])
		}
		want, err := evaluate(e, w, batch)
		if err != nil {
			return err
		}
		got, err := evaluate(e, w, given)
		if err != nil {
			return err
		}
		if err := got.equal(fmt.Sprintf("pass %d of a given field", batch.Pass), want, false); err != nil {
			return err
		}
		after, err := predict(e, w, given)
		if err != nil {
			return err
		}
		for i := range after {
			if check.RelativeL2(after[i].Field, fields[i].Field) < 1e-6 {
				return fmt.Errorf("pass %d leaves sample %d as it was", batch.Pass, i)
			}
		}
	}
	batch.Pass = 0
	want, err := predict(e, w, batch)
	if err != nil {
		return err
	}
	batch.Pass = spec.Network.Passes
	got, err := predict(e, w, batch)
	if err != nil {
		return err
	}
	return same("the last pass", got[0].Field, want[0].Field)
}

// checkSums: loss, gradient and statistics of a batch are the sums over its samples
// in their order, bit by bit.
func checkSums[T compute.Float](s *setup, e engine.Engine[T], spec *model.Spec) error {
	w := params(e)
	want, err := evaluate(e, w, s.batch)
	if err != nil {
		return err
	}
	sum := result[T]{grad: make([]T, len(w)), stats: engine.Stats{MeanSquares: make([]float64, len(want.stats.MeanSquares))}}
	for i := range s.batch.Inputs {
		// Into the same gradient, which is added to.
		st, err := e.LossAndGrad(sum.grad, w, s.batch.Sample(i))
		if err != nil {
			return err
		}
		sum.stats.Add(&st)
	}
	info := e.Info()
	return want.equal("the batch, against its samples", sum, info.Together)
}

// checkRepetition: the gradient is added, the same bits come again, and parameters
// and initial conditions stay as they are.
func checkRepetition[T compute.Float](s *setup, e engine.Engine[T], spec *model.Spec) error {
	w := params(e)
	before, initial := slices.Clone(w), slices.Clone(s.batch.Inputs[0])
	first, err := evaluate(e, w, s.batch)
	if err != nil {
		return err
	}
	if _, err := predict(e, w, s.batch); err != nil {
		return err
	}
	again, err := evaluate(e, w, s.batch)
	if err != nil {
		return err
	}
	if err := again.equal("again", first, false); err != nil {
		return err
	}
	ones := make([]T, len(w))
	for i := range ones {
		ones[i] = 1e3
	}
	if _, err := e.LossAndGrad(ones, w, s.batch); err != nil {
		return err
	}
	largest := 1e3
	for _, g := range first.grad {
		largest = max(largest, math.Abs(float64(g)))
	}
	for i := range ones {
		if math.Abs(float64(ones[i]-1e3)-float64(first.grad[i])) > largest*map[int]float64{32: 1e-6, 64: 1e-14}[bits[T]()] {
			return fmt.Errorf("gradient %d is not added: 1000 becomes %v, want %v more", i, ones[i], first.grad[i])
		}
	}
	return errors.Join(same("parameters", w, before), same("initial condition", s.batch.Inputs[0], initial))
}

// checkWorkers: neither the number of workers nor micro_batch changes a bit; where samples of a micro-batch are
// evaluated together that number changes rounding, and with one sample the division of a batch changes no bit.
func checkWorkers[T compute.Float](s *setup) error {
	var want result[T]
	var fields []engine.Prediction
	together := false
	for i, c := range []struct{ workers, micro int }{{1, 2}, {2, 2}, {3, 1}, {2, 4}} {
		if together && c.micro != 2 && testing.Short() && (c.micro > 1 || bits[T]() < 64 || s.name != "moe") {
			continue // programs of engine xla take seconds to compile
		}
		err := with(s, engine.Options{Workers: c.workers}, func(e engine.Engine[T], spec *model.Spec) error {
			w := params(e)
			info := e.Info()
			got, err := evaluate(e, w, s.batch)
			if err != nil {
				return err
			}
			all, err := predict(e, w, s.batch)
			if err != nil {
				return err
			}
			if together && c.micro == 1 {
				err = errors.Join(checkSums(s, e, spec), alone(s, e, all, false))
			}
			if i == 0 {
				want, fields, together = got, all, info.Together
				return nil
			}
			rounds := together && c.micro != 2
			what := fmt.Sprintf("%d workers, micro_batch %d", c.workers, c.micro)
			for b := range all {
				err = errors.Join(err, likewise[T](what+": field", all[b].Field, fields[b].Field, rounds))
			}
			return errors.Join(err, got.equal(what, want, rounds))
		}, fmt.Sprint("training.micro_batch=", c.micro))
		if err != nil {
			return err
		}
	}
	return nil
}

// checkSeeds: other points, another loss, where points are sampled.
func checkSeeds(s *setup, e engine.Engine[float64], spec *model.Spec) error {
	w, other := params(e), s.batch
	other.Seeds = slices.Clone(other.Seeds)
	for i := range other.Seeds {
		other.Seeds[i].Run++
	}
	a, err := evaluate(e, w, s.batch)
	if err != nil {
		return err
	}
	b, err := evaluate(e, w, other)
	if err != nil {
		return err
	}
	if (a.stats.Loss == b.stats.Loss) != (spec.Method == model.Soft) {
		return fmt.Errorf("loss %.17g, with other sampled points %.17g", a.stats.Loss, b.stats.Loss)
	}
	return nil
}

// checkSingle compares single with double precision.
func checkSingle(s *setup) error {
	var wide result[float64]
	var fields []engine.Prediction
	if err := with(s, engine.Options{}, func(e engine.Engine[float64], _ *model.Spec) (err error) {
		if wide, err = evaluate(e, params(e), s.batch); err != nil {
			return err
		}
		fields, err = predict(e, params(e), s.batch)
		return err
	}); err != nil {
		return err
	}
	return with(s, engine.Options{}, func(e engine.Engine[float32], _ *model.Spec) error {
		narrow, err := evaluate(e, params(e), s.batch)
		if err != nil {
			return err
		}
		var grad []float64
		for _, g := range narrow.grad {
			grad = append(grad, float64(g))
		}
		all, err := predict(e, params(e), s.batch)
		if err != nil {
			return err
		}
		for i := range all {
			if d := check.RelativeL2(all[i].Field, fields[i].Field); !(d < singleTolerance) {
				err = errors.Join(err, fmt.Errorf("sample %d: fields differ by %.2g", i, d))
			}
		}
		if d := check.RelativeL2(grad, wide.grad); !(d < singleTolerance) {
			err = errors.Join(err, fmt.Errorf("gradients differ by %.2g", d))
		}
		return errors.Join(err, near("the loss", narrow.stats.Loss, wide.stats.Loss, singleTolerance))
	})
}

// singleTolerance is what the rounding of a float32 network may become in a loss,
// a gradient or a field: second differences divide it by the square of the spacing.
const singleTolerance = 5e-3
