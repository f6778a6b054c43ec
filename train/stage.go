package train

import (
	"slices"

	"pihc/compute"
	"pihc/dist"
	"pihc/engine"
	"pihc/internal/dataset"
	"pihc/model"
)

// stage is the stage of training that the next step belongs to.
type stage[T compute.Float] struct {
	number  int               // from 0; -1 before the first
	engine  engine.Engine[T]  // in the last stage the trainer's
	stepper engine.Stepper[T] // the engine itself, or Adam beside it
	inputs  [][]float64       // of the training samples, on the stage's grid
}

// newEngine makes the engine of a stage of training.
func (t *trainer[T]) newEngine(stage int) (engine.Engine[T], error) {
	s := t.stages[stage]
	o := engine.Options{Name: t.options.Engine, Plugin: t.options.Plugin, Workers: t.options.Workers, Grid: s.Grid, Samples: s.Spec.Training.Batch}
	return dist.NewEngine[T](s.Spec, t.problem, o, t.options.Comm, t.options.Slabs)
}

// enter makes the engine and the stepper of the next step's stage. They depend on the spec
// and the step alone, which every checkpoint has: a resumed run enters the same stage with
// the same state.
func (t *trainer[T]) enter() error {
	at := slices.IndexFunc(t.stages, func(s model.Stage) bool { return t.state.step < s.Until })
	if at < 0 { // training has ended
		at = len(t.stages) - 1
	}
	if at == t.now.number {
		return nil
	}
	if t.now.stepper != nil {
		if err := t.now.stepper.Sync(); err != nil {
			return err
		}
	}
	t.leaveStage()
	now := stage[T]{number: at, engine: t.engine, inputs: t.samples.inputs}
	if at < len(t.stages)-1 {
		var err error
		if now.engine, err = t.newEngine(at); err != nil {
			return err
		}
		t.options.Logger.Info("stage", "of", len(t.stages), "stage", at+1, "grid", t.stages[at].Grid.Shape())
	}
	t.now = now
	whole, err := t.problem.Grid(t.spec.Grid)
	if err != nil {
		return err
	}
	if on := t.stages[at].Grid; !slices.Equal(on.Axes, whole.Axes) {
		t.now.inputs = make([][]float64, len(t.samples.inputs))
		for i, u0 := range t.samples.inputs {
			t.now.inputs[i] = dataset.InputsOn(t.problem, u0, whole, on)
		}
	}
	var ok bool
	if t.now.stepper, ok = now.engine.(engine.Stepper[T]); !ok {
		if t.pool == nil {
			t.pool = compute.NewPool(t.options.Workers)
		}
		t.now.stepper = &adam[T]{engine: now.engine, training: t.spec.Training, frozen: t.info.Frozen(), pool: t.pool, mu: &t.update}
	}
	return t.now.stepper.Begin(&t.state.State)
}

// leaveStage closes the engine of a stage that is not the last.
func (t *trainer[T]) leaveStage() {
	if t.now.engine != nil && t.now.engine != t.engine {
		t.now.engine.Close()
	}
	t.now = stage[T]{number: -1}
}
