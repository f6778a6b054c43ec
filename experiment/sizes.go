package experiment

import (
	"errors"
	"fmt"
	"strings"

	"pihc/constraint"
	"pihc/engine"
	"pihc/grid"
	"pihc/internal/words"
	"pihc/model"
	"pihc/pde"
)

// CheckSizes reports a spec whose network or constraint does not fit its grids or this machine, before anything is made for it.
func (x *Experiment) CheckSizes(o Options) error {
	spec, p, workers, slabs := x.Spec, x.Problem, o.Workers, max(1, o.Slabs)
	stages, err := spec.Stages(p)
	if err != nil {
		return err
	}
	for i, stage := range stages {
		if err := checkSizesOn(stage.Grid, stage.Spec, p, workers, slabs); err != nil {
			if i < len(stages)-1 {
				err = fmt.Errorf("training.stages.%d: %w", i, err)
			}
			return err
		}
	}
	g, err := p.Grid(spec.Grid)
	if err != nil {
		return err
	}
	if len(spec.Training.Window) > 0 { // evaluation is beyond it
		if err := checkSizesOn(g, spec, p, workers, slabs); err != nil {
			return err
		}
	}
	grids, err := spec.EvaluationGrids(p)
	if err != nil {
		return err
	}
	if n := spec.Evaluation.Points; n != nil && *n > 0 && spec.Method != model.Soft {
		on := *spec
		on.Constraint.Points = *n
		if err := checkSizesOn(g, &on, p, workers, slabs); err != nil {
			return fmt.Errorf("evaluation.points: %w", err)
		}
	}
	if e := (&Evaluation{}); e.newton(spec) {
		for _, on := range append([]model.EvaluationGrid{{Grid: g}}, grids...) {
			part, err := partOf(spec, p, on.Grid)
			if err != nil {
				return err
			}
			if err := engine.CheckNewton(part.spec, part.problem, part.grid); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkSizesOn does so for one grid.
func checkSizesOn(g *grid.Grid, spec *model.Spec, p *pde.Problem, workers, slabs int) error {
	if err := checkNeeds(spec, p, g, workers, slabs, true); err != nil {
		return err
	}
	if _, err := p.Discretize(g); err == nil && spec.Rollout > 1 {
		of, q, part, err := spec.SegmentOn(p, g)
		if err != nil {
			return err
		}
		return checkSizesOn(part, of, q, workers, slabs)
	}
	sys, err := p.Discretize(g)
	if err != nil {
		if errors.Is(err, pde.ErrLong) {
			return words.WithHint(err, "a shorter expression in the PDE file")
		}
		return words.WithHint(err, "more points in the spec's grid, or a lower order in the PDE file")
	}
	net, err := spec.NewNetwork(p)
	if err != nil {
		return err
	}
	if err := model.CheckNetwork(net, g); err != nil {
		return words.WithHint(err, "another value there, or more points in the spec's grid (axes: %s)", strings.Join(p.AxisNames(), ", "))
	}
	options, err := spec.Options(p)
	if err != nil {
		return err
	}
	if _, err := constraint.New(sys, spec.Outputs(), options, nil, nil); err != nil {
		if strings.HasPrefix(err.Error(), "constraint weights:") {
			return words.WithHint(err, "see constraint.weights in the spec")
		}
		return words.WithHint(err, "see constraint.points and constraint.experts in the spec")
	}
	return nil
}
