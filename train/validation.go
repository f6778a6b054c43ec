package train

import (
	"math"

	"pihc/constraint"
	"pihc/data"
	"pihc/engine"
	"pihc/grid"
)

// collapsed is the size of predictions, relative to the size expected, below which
// training is said to go towards zero.
const collapsed = 0.1

// validationSet are the samples of every validation.
type validationSet struct {
	batch     engine.Batch
	truth     [][]float64         // their solutions; nil without
	still     []float64           // their losses if fields keep their initial values
	baselines map[string]Baseline // for the first validation
}

func (t *trainer[T]) validationSamples(set *data.Dataset) (v validationSet, err error) {
	split, err := set.Split("validation")
	if err != nil {
		return v, err
	}
	count := split.Count
	if n := t.spec.Training.ValidateCount; n > 0 && n < count {
		count = n
	}
	if v.batch.Inputs, err = bySample(set.InputRange("validation", 0, count)); err != nil {
		return v, err
	}
	v.batch.Seeds = EvaluationSeeds(count)
	if split.Solve {
		if v.truth, err = bySample(set.SolutionsRange("validation", 0, count)); err != nil {
			return v, err
		}
		t.cut(v.truth)
	}
	v.still, err = t.info.StillLosses(v.batch.Inputs)
	return v, err
}

// cut ends solutions of the dataset's grid where training.window ends that of training.
func (t *trainer[T]) cut(solutions [][]float64) {
	size, unknowns := t.info.Grid.Size(), len(t.problem.Unknowns)
	for i, u := range solutions {
		whole := len(u) / unknowns
		if whole == size {
			continue
		}
		for c := range unknowns {
			copy(u[c*size:(c+1)*size], u[c*whole:])
		}
		solutions[i] = u[:unknowns*size]
	}
}

// EvaluationSeeds are the seeds of the points that count samples are constrained at outside
// training: the same in every evaluation, and apart from every training seed.
func EvaluationSeeds(count int) []constraint.Seed {
	seeds := make([]constraint.Seed, count)
	for i := range seeds {
		seeds[i] = constraint.Seed{Run: 0x6576616c, Step: math.MaxUint64, Sample: uint64(i)}
	}
	return seeds
}

// loadBaselines scores the trivial predictions for the first validation, on the rank that
// writes it.
func (t *trainer[T]) loadBaselines() error {
	if s := t.state; !t.writes() || s.step > t.firstValidation() || s.step == t.firstValidation() && !s.Due {
		return nil
	}
	var truth func(i int) ([]float64, error)
	if t.valid.truth != nil {
		truth = func(i int) ([]float64, error) { return t.valid.truth[i], nil }
	}
	trivial, err := t.info.Trivials(t.valid.batch.Inputs, truth)
	if err != nil {
		return err
	}
	mean := func(x []float64) float64 {
		sum := 0.0
		for _, v := range x {
			sum += v
		}
		return sum / float64(len(x))
	}
	t.valid.baselines = map[string]Baseline{}
	for _, x := range trivial {
		b := Baseline{Residual: data.Float(t.root(mean(x.Losses))), OutsideAnsatz: x.OutsideAnsatz}
		if x.Errors != nil {
			b.Error = number(mean(x.Errors))
		}
		t.valid.baselines[x.Name] = b
	}
	return nil
}

// firstValidation is the step of the first validation of a run, extended or not.
func (t *trainer[T]) firstValidation() int {
	spec := &t.spec.Training
	if len(spec.Restarts) > 0 {
		return min(spec.Validate, spec.Restarts[0])
	}
	return min(spec.Validate, spec.Steps)
}

// root makes of a loss the number that is shown: its root, or a norm itself.
func (t *trainer[T]) root(loss float64) float64 {
	if t.spec.Loss.Form == "norm" {
		return loss
	}
	return math.Sqrt(loss)
}

// validation evaluates the fixed validation samples, and keeps the parameters
// as the best checkpoint if they are, by training.best.
func (t *trainer[T]) validation() error {
	s := t.state
	if err := t.now.stepper.Sync(); err != nil {
		return err
	}
	var sum, relative, errs, size, expected float64
	squares := make([]float64, len(t.info.Rows))
	t.update.Unlock() // the state does not change here
	err := t.engine.Predict(s.evaluated(), t.valid.batch, func(i int, p *engine.Prediction) error {
		sum += p.Loss
		for k, v := range p.MeanSquares {
			squares[k] += v
		}
		relative += t.root(p.Loss / t.valid.still[i])
		like := t.problem.InitialOf(t.valid.batch.Inputs[i], t.info.Grid)
		if t.valid.truth != nil {
			like = t.valid.truth[i]
		}
		size += grid.Norm(p.Field) / math.Sqrt(float64(len(p.Field)))
		if len(like) > 0 {
			expected += grid.Norm(like) / math.Sqrt(float64(len(like)))
		}
		if t.valid.truth != nil {
			errs += grid.RelativeL2(p.Field, t.valid.truth[i], len(t.problem.Unknowns))
		}
		return nil
	})
	t.update.Lock()
	if err != nil {
		return err
	}
	s.Due = false
	n := float64(len(t.valid.batch.Inputs))
	residual := t.root(sum / n)
	r := Record{Step: s.step, ValidationResidual: number(residual), ValidationRelative: number(relative / n), ValidationRMS: map[string]data.Float{}}
	for k, rows := range t.info.Rows {
		r.ValidationRMS[rows.Name] = data.Float(math.Sqrt(squares[k] / n))
	}
	if t.valid.truth != nil {
		r.ValidationError = number(errs / n)
	}
	if s.step == t.firstValidation() {
		r.Baselines = t.valid.baselines
	}
	if size < collapsed*expected {
		r.Collapse = number(size / expected)
	}
	if err := t.write(r); err != nil {
		return err
	}
	if chosen, better := t.spec.Training.Better(residual, relative/n, float64(s.BestResidual)); better {
		s.BestResidual, s.BestStep = data.Float(chosen), s.step
		if !t.writes() || !t.better(chosen) {
			return nil
		}
		return writeBest(t.dir, t.info.Layout, s, t.meta)
	}
	return nil
}
