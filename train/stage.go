package train

import (
	"slices"

	"pihc/compute"
	"pihc/dataset"
	"pihc/dist"
	"pihc/engine"
	"pihc/model"
)

// newEngine makes the engine of a stage of training.
func (t *trainer[T]) newEngine(stage int) (engine.Engine[T], error) {
	s := t.stages[stage]
	o := engine.EngineOptions{Name: t.options.Engine, Plugin: t.options.Plugin, Workers: t.options.Workers, Grid: s.Grid}
	return dist.NewEngine[T](s.Spec, t.problem, o, t.options.Comm, t.options.Slabs)
}

// enter makes the stepper that of the stage of the next step. What it is made from, the
// spec and the step, is part of every checkpoint: a resumed run enters the same stage
// with the same state.
func (t *trainer[T]) enter() error {
	at := slices.IndexFunc(t.stages, func(s model.Stage) bool { return t.state.step < s.Until })
	if at < 0 { // training has ended
		at = len(t.stages) - 1
	}
	if at == t.stage {
		return nil
	}
	if t.stepper != nil {
		if err := t.stepper.Sync(); err != nil {
			return err
		}
		if t.on != t.engine {
			t.on.Close()
		}
	}
	t.on = t.engine
	if at < len(t.stages)-1 {
		var err error
		if t.on, err = t.newEngine(at); err != nil {
			t.on = nil
			return err
		}
		t.options.Logger.Info("stage", "of", len(t.stages), "stage", at+1, "grid", t.stages[at].Grid.Shape())
	}
	t.stage = at
	own, err := t.problem.Grid(t.spec.Grid)
	if err != nil {
		return err
	}
	t.initials = t.initial
	if on := t.stages[at].Grid; !slices.Equal(on.Axes, own.Axes) {
		t.initials = make([][]float64, len(t.initial))
		for i, u0 := range t.initial {
			t.initials[i] = dataset.InputsOn(t.problem, u0, own, on)
		}
	}
	var ok bool
	if t.stepper, ok = t.on.(engine.Stepper[T]); !ok {
		if t.pool == nil {
			t.pool = compute.NewPool(t.options.Workers)
		}
		t.stepper = &adam[T]{engine: t.on, training: t.spec.Training, frozen: t.info.Frozen(), pool: t.pool, mu: &t.update}
	}
	return t.stepper.Begin(&t.state.State)
}
